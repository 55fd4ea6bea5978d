-- Conversations: which texts of a shelf were said together, in the order they were said.

-- name: conversation_number
SELECT number FROM conversation WHERE tenant = :tenant AND shelf = :shelf AND name = :name;

-- name: add_conversation
INSERT INTO conversation (tenant, shelf, name, number) VALUES (:tenant, :shelf, :name, :number);

-- name: placement_block
SELECT data FROM placement WHERE tenant = :tenant AND shelf = :shelf AND block = :block;

-- name: placements
SELECT block, data FROM placement WHERE tenant = :tenant AND shelf = :shelf ORDER BY block;

-- name: fresh_places
SELECT slot, place FROM fresh
 WHERE tenant = :tenant AND shelf = :shelf AND place IS NOT NULL ORDER BY slot;

-- name: put_placement
INSERT INTO placement (tenant, shelf, block, data) VALUES (:tenant, :shelf, :block, :data)
ON CONFLICT (tenant, shelf, block) DO UPDATE SET data = excluded.data;

-- name: drop_conversations
DELETE FROM conversation WHERE tenant = :tenant AND shelf = :shelf;

-- name: terms_between
-- What a mistyped word may have meant: one look into the index for each term, however many texts have it.
WITH RECURSIVE found (term) AS (
  SELECT MIN(term) FROM posting
   WHERE tenant = :tenant AND shelf = :shelf AND term >= :first AND term <= :last
  UNION ALL
  SELECT (SELECT MIN(p.term) FROM posting p
           WHERE p.tenant = :tenant AND p.shelf = :shelf AND p.term > found.term AND p.term <= :last)
    FROM found WHERE found.term IS NOT NULL)
SELECT term FROM found WHERE term IS NOT NULL;
