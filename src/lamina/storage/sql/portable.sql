-- Every query of the store, each with its intent. `:tenant` is bound by the transaction itself.
-- `{{name}}` is a fragment defined below; what the two databases spell differently is in their own files.

-- fragment: memory_columns
id, space, owner, layer, kind, text, key, category, tags, authority, importance, priority, confidence, pinned,
state, revision, tick, phase, ttl, created_at, updated_at, valid_from, valid_until, expires_at, purge_at,
last_accessed_at, access_count, supersedes, superseded_by, file, provenance, meta, expires_tick, retired_tick

-- fragment: reached
-- What the caller's allowlist lets it reach; `:reach` is bound by the transaction, '' for everything, and so is
-- `:project_reach` for what is a project's. Their first character stands before, between and after the names.
((:reach = '' OR replace(:reach, substr(CAST(:reach AS TEXT), 1, 1) || {{topic}} || substr(CAST(:reach AS TEXT), 1, 1), '')
 <> :reach) AND (:project_reach = '' OR space <> 'project' OR replace(:project_reach,
 substr(CAST(:project_reach AS TEXT), 1, 1) || {{topic}} || substr(CAST(:project_reach AS TEXT), 1, 1), '') <> :project_reach))

-- name: said_between
-- Where what was said in a stretch of time stands in its shelf's index; `memory_said` has it all.
SELECT slot FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND {{said_at}} >= :start AND {{said_at}} < :end_
   AND {{reached}}
 ORDER BY {{said_at}}, slot LIMIT :limit;

-- name: stated
-- What a person stated themselves on a shelf since then, the latest first.
SELECT text FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND {{said_at}} >= :start
   AND authority = 'user_asserted' AND {{reached}}
 ORDER BY {{said_at}} DESC, slot DESC LIMIT 200;

-- fragment: said_at
-- When something was said; `Memory.said_at` says the same.
(CASE WHEN valid_from < created_at THEN valid_from ELSE created_at END)

-- fragment: topic
-- The category a memory counts as; `Memory.topic` says the same.
coalesce(category, CASE layer WHEN 'working' THEN 'activity' WHEN 'episodic' THEN 'event'
  WHEN 'procedural' THEN 'procedural' WHEN 'user_model' THEN 'profile' ELSE 'uncategorised' END)

-- fragment: audit_columns
seq, at, op, scope, key, memory_id, number, actor, via, run_id, reason, old_hash, new_hash, key_id, prev, hash

-- name: highest_shared
-- The highest number in use of those that nobody is told.
SELECT max(number) FROM (
  SELECT coalesce(max(number), 0) AS number FROM shelf WHERE tenant = :tenant
  UNION ALL SELECT coalesce(max(version), 0) FROM vector_shelf WHERE tenant = :tenant
  UNION ALL SELECT coalesce(max(id), 0) FROM operation WHERE tenant = :tenant
  UNION ALL SELECT coalesce(max(number), 0) FROM operational WHERE tenant = :tenant) AS used;

-- name: read_property
SELECT value FROM property WHERE tenant = :tenant AND name = :name;

-- name: properties_below
SELECT name, value FROM property WHERE tenant = :tenant AND name >= :prefix AND name < :beyond ORDER BY name;

-- name: write_property
INSERT INTO property (tenant, name, value) VALUES (:tenant, :name, :value)
ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value;

-- name: add_shelf
INSERT INTO shelf (tenant, number, name, next_slot, members, length) VALUES (:tenant, :number, :name, 0, 0, 0);

-- name: shelf_number
SELECT number, phase, next_slot FROM shelf WHERE tenant = :tenant AND name = :name;

-- name: enter_phase
UPDATE shelf SET phase = :number WHERE tenant = :tenant AND number = :shelf;

-- name: add_phase
INSERT INTO phase (tenant, shelf, number, name, reason, started_tick, started_at)
VALUES (:tenant, :shelf, :number, :name, :reason, :started_tick, :started_at);

-- name: phases_of
SELECT number, name, reason, started_tick, started_at FROM phase
 WHERE tenant = :tenant AND shelf = :shelf ORDER BY number;

-- name: phase_by_number
SELECT number, name, reason, started_tick, started_at FROM phase
 WHERE tenant = :tenant AND shelf = :shelf AND number = :number;

-- name: drop_phases
DELETE FROM phase WHERE tenant = :tenant AND shelf = :shelf AND number <= :upto RETURNING {{sealed_phase_columns}};

-- name: standing_before
-- What was active on a shelf when the clock reached a tick.
SELECT id, layer, identity FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND tick < :tick AND state <> 'pending'
   AND (retired_tick IS NULL OR retired_tick >= :tick) AND {{reached}} ORDER BY id;

-- name: expired_by
-- Active memories whose ticks are over, oldest first.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND expires_tick <= :tick ORDER BY tick, id;

-- name: keyed_on
-- The active memories of a shelf that hold a key, in key order.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND identity >= 'key:' AND identity < 'key;'
   AND (expires_at IS NULL OR expires_at > :now) AND {{reached}} ORDER BY identity;

-- name: heard_on
-- The facts about a person that were heard in a session, in key order.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND identity >= 'heard:' AND identity < 'heard;'
   AND {{reached}} ORDER BY identity;

-- name: turns_of
-- The turns of a conversation that are still in its window, oldest first.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND identity >= 'turn:' AND identity < 'turn;'
   AND phase = :phase AND {{reached}} ORDER BY identity;

-- name: session_by_name
SELECT started_at, last_at, ended_at FROM session
 WHERE tenant = :tenant AND user_name = :user AND name = :name;

-- name: touch_session
INSERT INTO session (tenant, user_name, name, started_at, last_at, ended_at)
VALUES (:tenant, :user, :name, :now, :now, NULL)
ON CONFLICT (tenant, user_name, name) DO UPDATE
   SET last_at = excluded.last_at, ended_at = NULL,
       started_at = CASE WHEN session.ended_at IS NULL THEN session.started_at ELSE excluded.last_at END;

-- name: end_session
UPDATE session SET ended_at = :now WHERE tenant = :tenant AND user_name = :user AND name = :name;

-- name: session_lapsing
SELECT id FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND ttl = 'session_end' AND {{reached}}
 ORDER BY id;

-- name: lapsed_on
SELECT id FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND expires_at <= :now AND {{reached}}
 ORDER BY id;

-- name: newest_on
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND identity NOT LIKE 'turn:%'
   AND identity NOT LIKE 'summary:%' AND {{reached}} ORDER BY tick DESC, id DESC LIMIT 1;

-- name: release_file
UPDATE memory SET file = :home, seal = :seal WHERE tenant = :tenant AND id = :id;

-- name: pending_on
-- What waits for its person's word, oldest first.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'pending'
   AND (expires_at IS NULL OR expires_at > :now) AND {{reached}} ORDER BY created_at, id;

-- name: read_number
SELECT value FROM counter WHERE tenant = :tenant AND name = :name;

-- name: all_shelves
SELECT number, name, members FROM shelf WHERE tenant = :tenant ORDER BY number;

-- name: shelves_in_use
-- Which shelf everybody's memories are on.
SELECT DISTINCT shelf, space, owner FROM memory WHERE tenant = :tenant ORDER BY shelf;

-- name: name_shelf
UPDATE shelf SET name = :name WHERE tenant = :tenant AND number = :number;

-- name: next_slot
SELECT next_slot FROM shelf WHERE tenant = :tenant AND number = :shelf;

-- name: take_slots
-- More texts on the shelf: the slot of each is the number of texts that ever were there before it.
UPDATE shelf SET next_slot = next_slot + :texts, members = members + :texts, length = length + :length
 WHERE tenant = :tenant AND number = :shelf;

-- name: free_slot
-- One text less; the slot itself is never used again.
UPDATE shelf SET members = members - 1, length = length - :length
 WHERE tenant = :tenant AND number = :shelf;

-- name: empty_shelf
UPDATE shelf SET next_slot = 0, members = 0, length = 0, making = making + 1
 WHERE tenant = :tenant AND number = :shelf;

-- name: shelves_after
-- The shelves behind one, in the order of their numbers.
SELECT number, name FROM shelf WHERE tenant = :tenant AND number > :number ORDER BY number LIMIT :limit;

-- name: count_shelves
-- How many shelves there are up to one, and in all.
SELECT count(*) FILTER (WHERE number <= :number), count(*) FROM shelf WHERE tenant = :tenant;

-- name: slots_on
SELECT id, slot FROM memory WHERE tenant = :tenant AND shelf = :shelf AND slot >= :first AND slot < :last ORDER BY slot;

-- name: drop_postings
DELETE FROM posting WHERE tenant = :tenant AND shelf = :shelf;

-- name: drop_placements
DELETE FROM placement WHERE tenant = :tenant AND shelf = :shelf;

-- name: drop_block_postings
DELETE FROM posting WHERE tenant = :tenant AND shelf = :shelf AND block = :block RETURNING data;

-- name: drop_block_placements
DELETE FROM placement WHERE tenant = :tenant AND shelf = :shelf AND block = :block;

-- name: drop_block_fresh
DELETE FROM fresh WHERE tenant = :tenant AND shelf = :shelf AND slot >= :first AND slot < :last RETURNING slot, length;

-- name: recount_shelf
-- A block of its lists was made anew: what a process kept of the old ones is worth nothing. Where that is all of it,
-- the counts are what was found.
UPDATE shelf SET making = making + 1,
  members = CASE WHEN next_slot <= :block_size THEN :members ELSE members END,
  length = CASE WHEN next_slot <= :block_size THEN :length ELSE length + :length - :before END
 WHERE tenant = :tenant AND number = :shelf;

-- name: add_fresh
INSERT INTO fresh (tenant, shelf, slot, length, terms, place)
VALUES (:tenant, :shelf, :slot, :length, :terms, :place);

-- name: drop_fresh
DELETE FROM fresh WHERE tenant = :tenant AND shelf = :shelf AND slot = :slot RETURNING slot;

-- name: take_fresh
-- What moves over to the posting lists.
DELETE FROM fresh WHERE tenant = :tenant AND shelf = :shelf RETURNING slot, length, terms, place;

-- name: empty_slots
UPDATE memory SET slot = NULL WHERE tenant = :tenant AND shelf = :shelf AND slot IS NOT NULL;

-- name: write_block
UPDATE posting SET data = :data
 WHERE tenant = :tenant AND shelf = :shelf AND term = :term AND block = :block;

-- name: add_memory
-- The column decay_score is from the first release and must have a value. Nothing reads it: decay is worked out
-- when a memory is read.
INSERT INTO memory (
  tenant, id, shelf, slot, identity, space, owner, layer, kind, text, key, category, tags, authority, importance,
  priority, confidence, pinned, state, revision, tick, phase, ttl, created_at, updated_at, valid_from, valid_until,
  expires_at, purge_at, last_accessed_at, access_count, decay_score, supersedes, superseded_by, file, provenance, meta,
  trust, expires_tick, retired_tick, seal)
VALUES (
  :tenant, :id, :shelf, :slot, :identity, :space, :owner, :layer, :kind, :text, :key, :category, :tags, :authority,
  :importance, :priority, :confidence, :pinned, :state, :revision, :tick, :phase, :ttl, :created_at, :updated_at,
  :valid_from, :valid_until, :expires_at, :purge_at, :last_accessed_at, :access_count, 1.0, :supersedes,
  :superseded_by, :file, :provenance, :meta, :trust, :expires_tick, :retired_tick, :seal);

-- name: memory_by_id
SELECT {{memory_columns}} FROM memory WHERE tenant = :tenant AND id = :id AND {{reached}};

-- name: active_by_identity
-- The one active memory that says this, or holds this key.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND identity = :identity AND state = 'active' AND {{reached}};

-- name: memories_placed
-- What stands in a range of places, what changed last first.
SELECT identity, {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND identity >= :first AND identity < :last
   AND (expires_at IS NULL OR expires_at > :now) AND {{reached}}
 ORDER BY updated_at DESC, identity;

-- name: memory_place
SELECT shelf, slot, identity FROM memory WHERE tenant = :tenant AND id = :id;

-- name: update_memory
-- Compare-and-swap: no row back means that another writer was first.
UPDATE memory SET
  text = :text, slot = :slot, identity = :identity, state = :state, revision = revision + 1,
  updated_at = :updated_at, expires_at = :expires_at, purge_at = :purge_at, superseded_by = :superseded_by,
  priority = :priority, ttl = :ttl, pinned = :pinned, kind = :kind, authority = :authority, provenance = :provenance,
  trust = :trust, phase = :phase, expires_tick = :expires_tick, retired_tick = :retired_tick, meta = :meta,
  confidence = :confidence, valid_from = :valid_from, valid_until = :valid_until, importance = :importance, tags = :tags,
  created_at = :created_at, seal = :seal
 WHERE tenant = :tenant AND id = :id AND revision = :expected
RETURNING revision;

-- name: set_slot
UPDATE memory SET slot = :slot WHERE tenant = :tenant AND id = :id;

-- name: slot_of
SELECT slot FROM memory WHERE tenant = :tenant AND id = :id;

-- name: active_in_order
SELECT id FROM memory WHERE tenant = :tenant AND state = 'active' ORDER BY space, owner, tick, id;

-- name: active_on
-- For rebuilding what is derived: neighbours in a conversation stay neighbours.
SELECT id FROM memory WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' ORDER BY tick, id;

-- name: count_by_state
SELECT state, CAST(sum(count) AS BIGINT) FROM memory_count WHERE tenant = :tenant GROUP BY state ORDER BY state;

-- name: uncount_shelf
DELETE FROM memory_count WHERE tenant = :tenant AND shelf = :shelf;

-- name: count_shelf_rows
-- Triggers keep the counts; this makes them anew from the rows where they went wrong.
INSERT INTO memory_count (tenant, shelf, state, layer, kind, category, actor, trust, tags, count)
SELECT tenant, shelf, state, layer, kind, coalesce(category, ''), actor, trust, tags, count(*)
  FROM memory WHERE tenant = :tenant AND shelf = :shelf GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9;

-- name: miscounted
SELECT CAST(count(*) AS BIGINT) FROM (
  SELECT shelf, state FROM (
    SELECT shelf, state, count FROM memory_count WHERE tenant = :tenant
    UNION ALL SELECT shelf, state, -1 FROM memory WHERE tenant = :tenant) AS both_ways
  GROUP BY shelf, state HAVING sum(count) <> 0) AS wrong;

-- name: add_history
INSERT INTO history (tenant, memory_id, number, revision, op, at, actor, via, old_text, new_text, decision, seal)
VALUES (:tenant, :memory_id, :number, :revision, :op, :at, :actor, :via, :old_text, :new_text, :decision, :seal);

-- name: last_step
SELECT number FROM history WHERE tenant = :tenant AND memory_id = :memory_id ORDER BY number DESC LIMIT 1;

-- name: history_of
SELECT memory_id, number, revision, op, at, actor, via, old_text, new_text, decision FROM history
 WHERE tenant = :tenant AND memory_id = :memory_id ORDER BY number;

-- name: add_change
INSERT INTO change_log (tenant, thread, revision, at, event, memory_id, shelf, number)
VALUES (:tenant, :thread, :revision, :at, :event, :memory_id, :shelf, :number);

-- name: last_change
-- How many changes there were in a thread, and on a shelf.
SELECT coalesce((SELECT max(revision) FROM change_log WHERE tenant = :tenant AND thread = :thread), 0),
       coalesce((SELECT max(number) FROM change_log WHERE tenant = :tenant AND shelf = :shelf), 0);

-- name: changes_since
SELECT revision, at, event, memory_id FROM change_log
 WHERE tenant = :tenant AND thread = :thread AND revision > :since ORDER BY revision LIMIT :limit;

-- name: add_audit
INSERT INTO audit (tenant, {{audit_columns}})
VALUES (:tenant, :seq, :at, :op, :scope, :key, :memory_id, :number, :actor, :via, :run_id, :reason, :old_hash,
        :new_hash, :key_id, :prev, :hash);

-- name: audit_after
SELECT {{audit_columns}} FROM audit WHERE tenant = :tenant AND seq > :after ORDER BY seq LIMIT :limit;

-- name: audit_newest
-- A page, newest first, behind a time and number.
SELECT {{audit_columns}} FROM audit
 WHERE tenant = :tenant AND (at, seq) < (:at, :seq) ORDER BY at DESC, seq DESC LIMIT :limit;

-- name: history_without_record
-- A step of a memory's life that no record tells of: the end of the chain was cut off, or the step made up.
SELECT memory_id, number FROM history WHERE tenant = :tenant
EXCEPT SELECT memory_id, number FROM audit WHERE tenant = :tenant
ORDER BY 1, 2 LIMIT 1;

-- name: audit_values
-- The words behind a record, as long as they are kept.
SELECT old_text, new_text, decision FROM history
 WHERE tenant = :tenant AND memory_id = :memory_id AND number = :number;

-- name: words_after
-- The words behind each record, as they stand in the history now.
SELECT a.seq, a.memory_id, a.number, a.old_hash, a.new_hash, h.old_text, h.new_text FROM audit a
  LEFT JOIN history h ON h.tenant = a.tenant AND h.memory_id = a.memory_id AND h.number = a.number
 WHERE a.tenant = :tenant AND a.seq > :after AND a.memory_id IS NOT NULL
   AND a.op NOT IN ('purge', 'purge_receipt', 'erase') ORDER BY a.seq LIMIT :limit;

-- name: memories_unlike_history
-- Active memories that do not say what was last recorded of them.
SELECT m.id FROM memory m
  JOIN history h ON h.tenant = m.tenant AND h.memory_id = m.id
 WHERE m.tenant = :tenant AND m.state = 'active'
   AND h.number = (SELECT max(number) FROM history l WHERE l.tenant = m.tenant AND l.memory_id = m.id)
   AND (h.new_text IS NULL OR h.new_text <> m.text)
 ORDER BY m.id;

-- name: memories_without_history
SELECT m.id FROM memory m
 WHERE m.tenant = :tenant
   AND NOT EXISTS (SELECT 1 FROM history h WHERE h.tenant = m.tenant AND h.memory_id = m.id)
 ORDER BY m.id;

-- name: add_event
INSERT INTO event (tenant, seq, at, type, shelf, data) VALUES (:tenant, :seq, :at, :type, :shelf, :data);

-- name: last_event
SELECT coalesce(max(seq), 0) FROM event WHERE tenant = :tenant AND seq > :first AND seq < :beyond;

-- name: audit_heads
-- The newest record of each chain; numbers of a chain begin behind a multiple of `:size`. CROSS JOIN: chains first.
WITH RECURSIVE chain (number) AS (
  SELECT 0 UNION ALL SELECT number + 1 FROM chain WHERE number < :last)
SELECT a.seq, a.hash, a.at FROM chain c CROSS JOIN audit a WHERE a.tenant = :tenant AND a.seq = (
  SELECT max(b.seq) FROM audit b
   WHERE b.tenant = :tenant AND b.seq > c.number * :size AND b.seq < (c.number + 1) * :size)
 ORDER BY a.seq;

-- name: event_by_seq
SELECT seq, at, type, shelf, data FROM event WHERE tenant = :tenant AND seq = :seq;

-- name: add_operation
INSERT INTO operation (tenant, id, at, kind, target, payload) VALUES (:tenant, :id, :at, :kind, :target, :payload);

-- name: pending_operations
SELECT id, kind, target, payload FROM operation WHERE tenant = :tenant AND target = :target ORDER BY id;

-- name: count_operations
SELECT count(*) FROM operation WHERE tenant = :tenant;

-- name: end_operation
DELETE FROM operation WHERE tenant = :tenant AND id = :id;

-- name: remembered_response
SELECT fingerprint, response FROM idempotency WHERE tenant = :tenant AND caller = :caller AND key = :key;

-- name: remember_response
INSERT INTO idempotency (tenant, caller, key, fingerprint, response, at)
VALUES (:tenant, :caller, :key, :fingerprint, :response, :at);

-- name: any_responses
SELECT 1 FROM idempotency WHERE tenant = :tenant AND at < :before LIMIT 1;

-- name: forget_responses
DELETE FROM idempotency WHERE tenant = :tenant AND at < :before;

-- name: add_token
INSERT INTO token (
  tenant, id, hash, label, user_name, agent, role, scopes, created_at, expires_at, revoked_at, acts_for)
VALUES (
  :tenant, :id, :hash, :label, :user_name, :agent, :role, :scopes, :created_at, :expires_at, NULL, :acts_for);

-- name: change_acts_for
UPDATE token SET acts_for = :acts_for WHERE tenant = :tenant AND id = :id RETURNING {{sealed_token_columns}};

-- name: token_by_id
SELECT id, hash, label, user_name, agent, role, scopes, created_at, expires_at, revoked_at, acts_for FROM token
 WHERE tenant = :tenant AND id = :id;

-- name: all_tokens
SELECT id, hash, label, user_name, agent, role, scopes, created_at, expires_at, revoked_at, acts_for FROM token
 WHERE tenant = :tenant ORDER BY created_at, id;

-- name: revoke_token
UPDATE token SET revoked_at = :at WHERE tenant = :tenant AND id = :id AND revoked_at IS NULL
RETURNING {{sealed_token_columns}};

-- name: put_entry
INSERT INTO entry (tenant, file, key, memory_id, value, fields)
VALUES (:tenant, :file, :key, :memory_id, :value, :fields)
ON CONFLICT (tenant, file, key) DO UPDATE
   SET memory_id = excluded.memory_id, value = excluded.value, fields = excluded.fields;

-- name: drop_entry
DELETE FROM entry WHERE tenant = :tenant AND file = :file AND key = :key;

-- name: entries_of
SELECT key, memory_id, value, fields FROM entry WHERE tenant = :tenant AND file = :file ORDER BY key;

-- name: entry_of
SELECT key, memory_id, value, fields FROM entry WHERE tenant = :tenant AND file = :file AND key = :key;

-- name: how_many_entries
SELECT count(*) FROM entry WHERE tenant = :tenant AND file = :file;

-- fragment: of_thread
tenant = :tenant AND user_name = :user AND thread = :thread

-- name: drop_checkpoint_head
DELETE FROM supervisor_checkpoints WHERE tenant = :tenant AND user_id = :user AND thread_id = :thread;

-- name: checkpoint_heads
SELECT thread_id, checkpoint_id, checkpoint_data, created_at, updated_at FROM supervisor_checkpoints
 WHERE tenant = :tenant AND user_id = :user ORDER BY updated_at DESC, thread_id LIMIT :limit;

-- name: list_checkpoints
-- Newest first; a range of one is a thread, a namespace or a checkpoint that was named.
SELECT thread, ns, id, metadata FROM checkpoint
 WHERE tenant = :tenant AND user_name = :user AND thread >= :thread AND thread <= :thread_last
   AND ns >= :ns AND ns <= :ns_last AND id >= :id AND id <= :id_last AND id < :before
 ORDER BY id DESC, thread, ns LIMIT :limit;

-- name: checkpoints_of_thread
SELECT ns, id, parent, run, channels, metadata FROM checkpoint WHERE {{of_thread}} ORDER BY ns, id;

-- name: threads_of_run
SELECT DISTINCT thread FROM checkpoint
 WHERE tenant = :tenant AND user_name = :user AND run = :run ORDER BY thread;

-- name: drop_checkpoint
DELETE FROM checkpoint WHERE {{of_thread}} AND ns = :ns AND id = :id;

-- name: drop_checkpoint_writes
DELETE FROM checkpoint_write WHERE {{of_thread}} AND ns = :ns AND checkpoint = :id;

-- name: drop_checkpoint_parents
-- What is left does not point at what is gone.
UPDATE checkpoint SET parent = NULL
 WHERE {{of_thread}} AND parent IS NOT NULL AND NOT EXISTS (
   SELECT 1 FROM checkpoint p
    WHERE p.tenant = checkpoint.tenant AND p.user_name = checkpoint.user_name AND p.thread = checkpoint.thread
      AND p.ns = checkpoint.ns AND p.id = checkpoint.parent);

-- name: drop_thread_checkpoints
DELETE FROM checkpoint WHERE {{of_thread}};

-- name: drop_thread_blobs
DELETE FROM checkpoint_blob WHERE {{of_thread}};

-- name: drop_thread_writes
DELETE FROM checkpoint_write WHERE {{of_thread}};

-- name: copy_checkpoints
INSERT INTO checkpoint (tenant, user_name, thread, ns, id, parent, run, channels, type, body, metadata)
SELECT tenant, user_name, :target, ns, id, parent, run, channels, type, body, metadata FROM checkpoint
 WHERE {{of_thread}} ON CONFLICT DO NOTHING;

-- name: copy_checkpoint_blobs
INSERT INTO checkpoint_blob (tenant, user_name, thread, ns, channel, version, type, data)
SELECT tenant, user_name, :target, ns, channel, version, type, data FROM checkpoint_blob
 WHERE {{of_thread}} ON CONFLICT DO NOTHING;

-- name: copy_checkpoint_writes
INSERT INTO checkpoint_write (tenant, user_name, thread, ns, checkpoint, task, idx, path, channel, type, data)
SELECT tenant, user_name, :target, ns, checkpoint, task, idx, path, channel, type, data FROM checkpoint_write
 WHERE {{of_thread}} ON CONFLICT DO NOTHING;
