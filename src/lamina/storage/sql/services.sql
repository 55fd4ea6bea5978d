-- Changes counted per shelf, counts of what was done, and what a categories file asks for.

-- name: changes_on
-- The newest changes of a shelf above a number, as far as the caller may know of their memories.
SELECT c.number, c.at, c.event, c.memory_id FROM change_log c
  LEFT JOIN memory m ON m.tenant = c.tenant AND m.id = c.memory_id
 WHERE c.tenant = :tenant AND c.shelf = :shelf AND c.number > :after AND c.memory_id NOT LIKE :guesses
   AND (m.id IS NOT NULL AND {{reached}}
     OR m.id IS NULL AND :reach = '' AND (:project_reach = '' OR c.memory_id NOT LIKE 'project:%'))
   AND (m.id IS NULL OR m.identity NOT LIKE 'turn:%' AND m.identity NOT LIKE 'summary:%')
 ORDER BY c.number DESC LIMIT :limit;

-- name: last_change_on
SELECT max(number) FROM change_log WHERE tenant = :tenant AND shelf = :shelf;

-- name: thread_revision
SELECT max(revision) FROM change_log WHERE tenant = :tenant AND thread = :thread;

-- name: known_changes
-- How many changes of a thread above a revision are of memories that the caller may know of.
SELECT count(*) FROM change_log c
  JOIN memory m ON m.tenant = c.tenant AND m.id = c.memory_id
 WHERE c.tenant = :tenant AND c.thread = :thread AND c.revision > :after AND c.memory_id NOT LIKE :guesses
   AND {{reached}} AND m.identity NOT LIKE 'turn:%' AND m.identity NOT LIKE 'summary:%';

-- name: always_on
-- What a context always has of a category, what matters most first. `+ 0`: few have the category, and an index of
-- what matters would be walked for them.
SELECT {{memory_columns}} FROM memory m
 WHERE m.tenant = :tenant AND m.shelf = :shelf AND m.state = 'active' AND {{topic}} = :category
   AND (m.expires_at IS NULL OR m.expires_at > :now) AND m.trust = 'trusted' AND {{reached}}
 ORDER BY m.importance + 0 DESC, m.updated_at DESC, m.id LIMIT :limit;

-- name: told_on
-- What people stated without a key, what matters most first, then the newest: in the order of `memory_by_weight`.
SELECT {{memory_columns}} FROM memory m
 WHERE m.tenant = :tenant AND m.shelf = :shelf AND m.state = 'active' AND m.layer = 'semantic' AND m.key IS NULL
   AND m.authority = 'user_asserted' AND m.superseded_by IS NULL AND m.trust = 'trusted'
   AND (m.expires_at IS NULL OR m.expires_at > :now) AND {{reached}}
 ORDER BY m.importance DESC, m.created_at DESC, m.id DESC LIMIT :limit;

-- name: topic_slots
-- Where the memories of a category stand in their shelf's index; the index `memory_topics` has it all.
SELECT slot FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND {{topic}} = :category AND {{reached}} LIMIT :limit;

-- name: count_operational
-- How often each thing was done, by stretches of `:width` microseconds.
-- From `:whole` on, an hour's beginning, as they are kept by the hour; before it row by row.
SELECT at - at % :width, node, op, status, CAST(sum(count) AS BIGINT) FROM (
  SELECT hour AS at, node, op, status, count FROM operational_count
   WHERE tenant = :tenant AND user_name = :user AND hour >= :whole AND {{counted}}
  UNION ALL
  SELECT at, node, op, status, 1 FROM operational
   WHERE tenant = :tenant AND user_name = :user AND at >= :since AND at < :whole AND {{counted}}) AS done
 GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4;

-- name: count_asked
-- The turns in which memory was asked on demand.
SELECT count(DISTINCT (
  SELECT max(c.number) FROM operational c
   WHERE c.tenant = :tenant AND c.thread = q.thread AND c.op = 'classify' AND c.number < q.number))
  FROM operational q
 WHERE q.tenant = :tenant AND q.user_name = :user AND q.at >= :since AND q.op = 'query' AND {{counted}};

-- name: forget_operational
DELETE FROM operational WHERE tenant = :tenant AND at < :before;

-- name: count_topics
SELECT {{topic}}, state, CAST(sum(count) AS BIGINT) FROM {{memory_counts}}
 WHERE {{reached}} GROUP BY 1, 2 ORDER BY 1, 2;

-- name: count_kept
-- How many there are of what on a shelf, and less by what is past its time.
SELECT state, layer, kind, {{topic}}, actor, trust, tags, count FROM {{memory_counts}} WHERE {{reached}}
UNION ALL
SELECT state, layer, kind, {{topic}}, actor, trust, tags, -count(*) FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND expires_at IS NOT NULL AND expires_at <= :now
   AND {{reached}} GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- fragment: memory_counts
-- What is counted on a shelf, with its category as a memory has it.
(SELECT c.state, c.layer, c.kind, nullif(c.category, '') AS category, c.actor, c.trust, c.tags, c.count,
    CASE WHEN s.name LIKE 'project:%' THEN 'project' ELSE '' END AS space
   FROM memory_count c JOIN shelf s ON s.tenant = c.tenant AND s.number = c.shelf
  WHERE c.tenant = :tenant AND c.shelf = :shelf) AS counts

-- fragment: counted
-- A caller with an allowlist counts what was done in its categories, and nothing else.
(:reach = '' OR category IS NOT NULL AND replace(:reach, substr(CAST(:reach AS TEXT), 1, 1) || category
  || substr(CAST(:reach AS TEXT), 1, 1), '') <> :reach)
