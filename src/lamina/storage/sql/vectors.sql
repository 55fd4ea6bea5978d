-- Vectors: how alike texts are. Everything here is derived.

-- name: count_vectors
-- So many more vectors on a shelf, or fewer; the version is that of the change, or an older one where no block changed.
UPDATE vector_shelf SET members = members + :change, version = CASE
       WHEN :version > version THEN :version ELSE version END
 WHERE tenant = :tenant AND shelf = :shelf AND embedder = :embedder;

-- name: open_vector_shelf
-- A shelf that has no vectors of this encoder yet; what a process kept of an earlier one is older than this.
INSERT INTO vector_shelf (tenant, shelf, embedder, dimension, members, version, since)
VALUES (:tenant, :shelf, :embedder, :dimension, :members, :version, :version);

-- name: add_fresh_vector
INSERT INTO vector_fresh (tenant, shelf, embedder, slot, data) VALUES (:tenant, :shelf, :embedder, :slot, :data)
ON CONFLICT (tenant, shelf, embedder, slot) DO UPDATE SET data = excluded.data;

-- name: take_fresh_vectors
-- What moves over to the blocks.
DELETE FROM vector_fresh WHERE tenant = :tenant AND shelf = :shelf AND embedder = :embedder RETURNING slot, data;

-- name: drop_fresh_vector
DELETE FROM vector_fresh WHERE tenant = :tenant AND shelf = :shelf AND slot = :slot RETURNING embedder;

-- name: vector_blocks_at
-- The blocks that may hold a text's vectors, one for each encoder.
SELECT b.embedder, s.dimension, b.data FROM vector_block b
  JOIN vector_shelf s ON s.tenant = b.tenant AND s.shelf = b.shelf AND s.embedder = b.embedder
 WHERE b.tenant = :tenant AND b.shelf = :shelf AND b.block = :block ORDER BY b.embedder;

-- name: write_vector_block
UPDATE vector_block SET data = :data, version = :version
 WHERE tenant = :tenant AND shelf = :shelf AND embedder = :embedder AND block = :block;

-- name: vector_blocks_since
SELECT block, data FROM vector_block
 WHERE tenant = :tenant AND shelf = :shelf AND embedder = :embedder AND version > :version ORDER BY block;

-- name: vector_shelf_state
SELECT members, version, since FROM vector_shelf
 WHERE tenant = :tenant AND shelf = :shelf AND embedder = :embedder;

-- name: fresh_vectors
SELECT slot, data FROM vector_fresh
 WHERE tenant = :tenant AND shelf = :shelf AND embedder = :embedder ORDER BY slot;

-- name: drop_vector_shelf
DELETE FROM vector_shelf WHERE tenant = :tenant AND shelf = :shelf;

-- name: drop_vector_blocks
DELETE FROM vector_block WHERE tenant = :tenant AND shelf = :shelf;

-- name: drop_fresh_vectors
DELETE FROM vector_fresh WHERE tenant = :tenant AND shelf = :shelf;

-- name: shelves_lacking
-- Shelves with texts that have no vector of an encoder, and how many, among those with numbers in a range.
SELECT s.number, s.members - coalesce(v.members, 0), s.name FROM shelf s
  LEFT JOIN vector_shelf v ON v.tenant = s.tenant AND v.shelf = s.number AND v.embedder = :embedder
 WHERE s.tenant = :tenant AND s.number > :after AND s.number <= :last AND s.members > coalesce(v.members, 0)
 ORDER BY s.number;

-- name: shelf_numbered
-- The number of the shelf so many places behind one; none where fewer are left.
SELECT number FROM shelf WHERE tenant = :tenant AND number > :after ORDER BY number LIMIT 1 OFFSET :count;

-- name: texts_per_block
SELECT slot / 256, count(*) FROM (
  SELECT slot FROM memory WHERE tenant = :tenant AND shelf = :shelf AND slot IS NOT NULL UNION ALL
  SELECT slot FROM passage WHERE tenant = :tenant AND shelf = :shelf AND slot IS NOT NULL) t
 GROUP BY 1 ORDER BY 1;

-- name: texts_in_block
-- What stands in some slots, with the key or the heading it is found by.
SELECT slot, key, text FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND slot >= :first AND slot < :beyond
UNION ALL
SELECT slot, heading, text FROM passage
 WHERE tenant = :tenant AND shelf = :shelf AND slot >= :first AND slot < :beyond;

-- name: vector_block_sizes
SELECT block, length(data) FROM vector_block WHERE tenant = :tenant AND shelf = :shelf AND embedder = :embedder;

-- name: vector_block
SELECT data FROM vector_block
 WHERE tenant = :tenant AND shelf = :shelf AND embedder = :embedder AND block = :block;
