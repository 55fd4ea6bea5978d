-- Edges between memories. Who reads them looks up both ends as the caller may see them.

-- name: add_relation
-- An edge; it takes the place of the same that is there.
INSERT INTO relation (tenant, from_id, to_id, type, strength, explicit, created_at)
VALUES (:tenant, :from_id, :to_id, :type, :strength, :explicit, :created_at)
ON CONFLICT (tenant, from_id, to_id, type) DO UPDATE
   SET strength = excluded.strength, explicit = excluded.explicit, created_at = excluded.created_at;

-- name: drop_relation
-- One edge, whichever way round it is.
DELETE FROM relation
 WHERE tenant = :tenant AND type = :type
   AND (from_id = :from_id AND to_id = :to_id OR from_id = :to_id AND to_id = :from_id)
RETURNING {{sealed_relation_columns}};

-- name: drop_found_relations
-- What was found for words that a memory no longer has.
DELETE FROM relation WHERE tenant = :tenant AND explicit = 0 AND (from_id = :id OR to_id = :id)
RETURNING {{sealed_relation_columns}};

-- name: drop_relations
DELETE FROM relation WHERE tenant = :tenant AND (from_id = :id OR to_id = :id) RETURNING {{sealed_relation_columns}};

-- name: relations_between
-- All edges that begin at a range of ids.
SELECT from_id, to_id, type, strength, explicit, created_at FROM relation
 WHERE tenant = :tenant AND from_id >= :first AND from_id < :beyond ORDER BY from_id, to_id, type;

-- name: note_linked
UPDATE shelf SET linked = 1 WHERE tenant = :tenant AND name = :name AND linked = 0;
