-- What is under the seal, table by table: the columns of `sealed_<table>`, without the tenant, are what a row's seal
-- covers. `tests/audit/test_forgeries.py` wants every other column of the schema named, with the reason.
-- Each gives the rows of a range, a page at a time, in the order of their keys.

-- fragment: sealed_memory_columns
id, shelf, identity, space, owner, layer, kind, text, key, category, tags, authority, importance, priority,
confidence, pinned, state, revision, tick, phase, ttl, created_at, updated_at, valid_from, valid_until, expires_at,
purge_at, supersedes, superseded_by, file, provenance, meta, trust, expires_tick, retired_tick

-- fragment: sealed_history_columns
memory_id, number, revision, op, at, actor, via, decision

-- fragment: sealed_relation_columns
from_id, to_id, type, strength, explicit, created_at

-- fragment: sealed_shelf_columns
number, name, phase

-- fragment: sealed_phase_columns
shelf, number, name, reason, started_tick, started_at

-- fragment: sealed_event_columns
shelf, seq, at, type, data

-- fragment: sealed_refusal_columns
owner, number, cause, shelf, actor, at, source, lifted_by, lifted_at

-- fragment: sealed_refusal_mark_columns
owner, mark, number, part, telling

-- fragment: sealed_token_columns
id, hash, label, user_name, agent, role, scopes, created_at, expires_at, revoked_at, acts_for

-- fragment: also_heads
-- The newest event of a chain, and the rows of a lane and of what sums it up.
(SELECT coalesce(max(seq), 0) FROM event WHERE tenant = :tenant AND seq > :first AND seq < :beyond),
(SELECT body FROM lane WHERE tenant = :tenant AND name = :lane LIMIT 1),
(SELECT body FROM lane WHERE tenant = :tenant AND name = :top LIMIT 1)

-- name: sealed_memory
SELECT {{sealed_memory_columns}}, seal FROM memory
 WHERE tenant = :tenant AND id > :one AND id < :beyond ORDER BY id LIMIT :limit;

-- name: sealed_memory_of
SELECT {{sealed_memory_columns}} FROM memory WHERE tenant = :tenant AND id = :id;

-- name: sealed_lapsing
-- What is kept until the end of a session that is not over.
SELECT {{sealed_memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND ttl = 'session_end'
   AND (expires_at IS NULL OR expires_at > :now) ORDER BY id;

-- name: set_end
UPDATE memory SET expires_at = :until, seal = :seal WHERE tenant = :tenant AND id = :id;

-- name: set_memory_seal
UPDATE memory SET seal = :seal WHERE tenant = :tenant AND id = :id;

-- name: set_history_seal
UPDATE history SET seal = :seal WHERE tenant = :tenant AND memory_id = :id AND number = :number;

-- name: sealed_history
SELECT {{sealed_history_columns}}, seal FROM history
 WHERE tenant = :tenant AND (memory_id, number) > (:one, :two) AND memory_id < :beyond
 ORDER BY memory_id, number LIMIT :limit;

-- name: sealed_relation
SELECT {{sealed_relation_columns}} FROM relation
 WHERE tenant = :tenant AND (from_id, to_id, type) > (:one, :two, :three) AND from_id < :beyond
 ORDER BY from_id, to_id, type LIMIT :limit;

-- name: relation_of
SELECT {{sealed_relation_columns}} FROM relation
 WHERE tenant = :tenant AND from_id = :from_id AND to_id = :to_id AND type = :type;

-- name: said_relations
-- What somebody said of a memory.
SELECT {{sealed_relation_columns}} FROM relation
 WHERE tenant = :tenant AND explicit = 1 AND (from_id = :id OR to_id = :id) ORDER BY from_id, to_id, type;

-- name: relations_at
SELECT {{sealed_relation_columns}} FROM relation
 WHERE tenant = :tenant AND (from_id = :id OR to_id = :id) ORDER BY from_id, to_id, type;

-- name: sealed_shelf
SELECT {{sealed_shelf_columns}}, linked FROM shelf
 WHERE tenant = :tenant AND name > :one AND name < :beyond ORDER BY name LIMIT :limit;

-- name: sealed_shelf_of
SELECT {{sealed_shelf_columns}} FROM shelf WHERE tenant = :tenant AND number = :number;

-- name: sealed_event
SELECT {{sealed_event_columns}} FROM event
 WHERE tenant = :tenant AND (shelf, seq) > (:one, :two) AND shelf < :beyond ORDER BY shelf, seq LIMIT :limit;

-- name: sealed_event_of
SELECT {{sealed_event_columns}} FROM event WHERE tenant = :tenant AND seq = :seq;

-- name: sealed_refusal
SELECT {{sealed_refusal_columns}} FROM refusal
 WHERE tenant = :tenant AND (owner, number) > (:one, :two) AND owner < :beyond ORDER BY owner, number LIMIT :limit;

-- name: sealed_refusal_mark
SELECT {{sealed_refusal_mark_columns}} FROM refusal_mark
 WHERE tenant = :tenant AND (owner, mark, number, part) > (:one, :two, :three, :four) AND owner < :beyond
 ORDER BY owner, mark, number, part LIMIT :limit;

-- name: sealed_token
SELECT {{sealed_token_columns}} FROM token
 WHERE tenant = :tenant AND id > :one AND id < :beyond ORDER BY id LIMIT :limit;

-- name: audit_steps_of
-- The records about the memories in a range of ids.
SELECT {{audit_columns}} FROM audit
 WHERE tenant = :tenant AND memory_id IS NOT NULL AND (memory_id, seq) > (:one, :two) AND memory_id < :beyond
 ORDER BY memory_id, seq LIMIT :limit;

-- name: words_of
-- As `words_after`, of the memories in a range of ids.
SELECT a.seq, a.memory_id, a.number, a.old_hash, a.new_hash, h.old_text, h.new_text FROM audit a
  LEFT JOIN history h ON h.tenant = a.tenant AND h.memory_id = a.memory_id AND h.number = a.number
 WHERE a.tenant = :tenant AND a.memory_id IS NOT NULL AND (a.memory_id, a.seq) > (:one, :two)
   AND a.memory_id < :beyond AND a.op NOT IN ('purge', 'purge_receipt', 'erase')
 ORDER BY a.memory_id, a.seq LIMIT :limit;

-- name: audit_acts_of
-- The records about no memory, in a range of what they are about.
SELECT {{audit_columns}} FROM audit
 WHERE tenant = :tenant AND memory_id IS NULL AND (scope, seq) > (:one, :two) AND scope < :beyond
 ORDER BY scope, seq LIMIT :limit;

-- name: lane_bodies
SELECT name, body FROM lane WHERE tenant = :tenant AND name IN (:name, :top);

-- name: lanes
SELECT name, body FROM lane WHERE tenant = :tenant AND name > :one AND name < :beyond ORDER BY name LIMIT :limit;

-- name: put_lane
INSERT INTO lane (tenant, name, body) VALUES (:tenant, :name, :body)
ON CONFLICT (tenant, name) DO UPDATE SET body = excluded.body;

-- name: drop_lanes
DELETE FROM lane WHERE tenant = :tenant;
