-- Edges between memories. Who reads them looks up both ends as the caller may see them.

-- name: add_relation
-- An edge that is found; one between the two that is there already, either way round, stays as it is.
INSERT INTO relation (tenant, from_id, to_id, type, strength, explicit, created_at)
SELECT CAST(:tenant AS TEXT), CAST(:from_id AS TEXT), CAST(:to_id AS TEXT), 'related_to',
       CAST(:strength AS DOUBLE PRECISION), 0, CAST(:at AS BIGINT)
 WHERE NOT EXISTS (SELECT 1 FROM relation r WHERE r.tenant = :tenant AND r.from_id = :to_id AND r.to_id = :from_id)
ON CONFLICT (tenant, from_id, to_id, type) DO NOTHING;

-- name: put_relation
-- An edge that somebody says; it takes the place of one that was found.
INSERT INTO relation (tenant, from_id, to_id, type, strength, explicit, created_at)
VALUES (:tenant, :from_id, :to_id, :type, :strength, 1, :at)
ON CONFLICT (tenant, from_id, to_id, type) DO UPDATE
   SET strength = excluded.strength, explicit = 1, created_at = excluded.created_at;

-- name: drop_relation
-- One edge, whichever way round it is.
DELETE FROM relation
 WHERE tenant = :tenant AND type = :type
   AND (from_id = :from_id AND to_id = :to_id OR from_id = :to_id AND to_id = :from_id) RETURNING explicit;

-- name: drop_found_relations
-- What was found for words that a memory no longer has.
DELETE FROM relation WHERE tenant = :tenant AND explicit = 0 AND (from_id = :id OR to_id = :id);

-- name: hand_on_relations
-- What somebody said of a memory holds for the one that took its place; its own edges wait with it.
INSERT INTO relation (tenant, from_id, to_id, type, strength, explicit, created_at)
SELECT tenant, CASE WHEN from_id = :old THEN CAST(:new AS TEXT) ELSE from_id END,
       CASE WHEN to_id = :old THEN CAST(:new AS TEXT) ELSE to_id END, type, strength, 1, created_at
  FROM relation
 WHERE tenant = :tenant AND explicit = 1 AND (from_id = :old OR to_id = :old) AND from_id <> :new AND to_id <> :new
ON CONFLICT (tenant, from_id, to_id, type) DO UPDATE SET strength = excluded.strength, explicit = 1;

-- name: drop_relations
DELETE FROM relation WHERE tenant = :tenant AND (from_id = :id OR to_id = :id);

-- name: relations_between
-- All edges that begin at a range of ids.
SELECT from_id, to_id, type, strength, explicit, created_at FROM relation
 WHERE tenant = :tenant AND from_id >= :first AND from_id < :beyond ORDER BY from_id, to_id, type;

-- name: note_linked
UPDATE shelf SET linked = 1 WHERE tenant = :tenant AND name = :name AND linked = 0;
