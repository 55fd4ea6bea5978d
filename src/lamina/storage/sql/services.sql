-- Changes counted per shelf, counts of what was done, and what a categories file asks for.

-- name: changes_on
-- The newest changes of a shelf above a number, as far as the caller may know of their memories.
SELECT c.number, c.at, c.event, c.memory_id FROM change_log c
  LEFT JOIN memory m ON m.tenant = c.tenant AND m.id = c.memory_id
 WHERE c.tenant = :tenant AND c.shelf = :shelf AND c.number > :after AND c.memory_id NOT LIKE :guesses
   AND (:reach = '' OR m.id IS NOT NULL AND {{reached}})
   AND (m.id IS NULL OR m.identity NOT LIKE 'turn:%' AND m.identity NOT LIKE 'summary:%')
 ORDER BY c.number DESC LIMIT :limit;

-- name: last_change_on
SELECT max(number) FROM change_log WHERE tenant = :tenant AND shelf = :shelf;

-- name: always_on
-- What a context always has of a category, what matters most first.
SELECT {{memory_columns}} FROM memory m
 WHERE m.tenant = :tenant AND m.shelf = :shelf AND m.state = 'active' AND {{topic}} = :category
   AND (m.expires_at IS NULL OR m.expires_at > :now) AND m.trust = 'trusted' AND {{reached}}
 ORDER BY m.importance DESC, m.updated_at DESC, m.id LIMIT :limit;

-- name: topic_slots
-- Where the memories of a category stand in their shelf's index; the index `memory_topics` has it all.
SELECT slot FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND {{topic}} = :category AND {{reached}} LIMIT :limit;

-- name: add_operational
INSERT INTO operational (tenant, number, at, user_name, thread, node, op, status, memory_id, category, sim)
VALUES (
  :tenant, (SELECT coalesce(max(number), 0) + 1 FROM operational WHERE tenant = :tenant),
  :at, :user, :thread, :node, :op, :status, :memory_id, :category, :sim);

-- name: count_operational
-- How often each thing was done, by stretches of `:width` microseconds.
SELECT at - at % :width, node, op, status, count(*) FROM operational
 WHERE tenant = :tenant AND user_name = :user AND at >= :since AND {{counted}}
 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;

-- name: count_turns
-- Turns, and those of them in which memory was asked on demand.
SELECT
  (SELECT count(*) FROM operational
    WHERE tenant = :tenant AND user_name = :user AND at >= :since AND op = 'classify' AND {{counted}}),
  (SELECT count(DISTINCT (
     SELECT max(c.number) FROM operational c
      WHERE c.tenant = :tenant AND c.thread = q.thread AND c.op = 'classify' AND c.number < q.number))
     FROM operational q
    WHERE q.tenant = :tenant AND q.user_name = :user AND q.at >= :since AND q.op = 'query' AND {{counted}});

-- name: forget_operational
DELETE FROM operational WHERE tenant = :tenant AND at < :before;

-- name: count_topics
SELECT {{topic}}, state, count(*) FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND {{reached}} GROUP BY 1, 2 ORDER BY 1, 2;

-- fragment: counted
-- A caller with an allowlist counts what was done in its categories, and nothing else.
(:reach = '' OR category IS NOT NULL AND replace(:reach, substr(CAST(:reach AS TEXT), 1, 1) || category
  || substr(CAST(:reach AS TEXT), 1, 1), '') <> :reach)
