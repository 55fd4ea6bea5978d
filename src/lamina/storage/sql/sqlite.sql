-- What SQLite spells its own way: lists travel as JSON, bytes are joined through a cast.
-- CROSS JOIN fixes the order of the loops: the short list outside, an index look-up inside.

-- name: shelf_statistics
SELECT number, members, length, next_slot, name, phase, linked, making FROM shelf
 WHERE tenant = :tenant AND name IN (SELECT value FROM json_each(:names)) AND members > 0;

-- name: add_posting
INSERT INTO posting (tenant, shelf, term, block, data) VALUES (:tenant, :shelf, :term, :block, :data)
ON CONFLICT (tenant, shelf, term, block) DO UPDATE SET data = CAST(posting.data || excluded.data AS BLOB);

-- name: add_vector_block
INSERT INTO vector_block (tenant, shelf, embedder, block, version, data)
VALUES (:tenant, :shelf, :embedder, :block, :version, :data)
ON CONFLICT (tenant, shelf, embedder, block) DO UPDATE
   SET data = CAST(vector_block.data || excluded.data AS BLOB), version = excluded.version;

-- name: posting_blocks
-- Every block of these terms on these shelves, in order.
SELECT p.shelf, p.term, p.block, p.data FROM json_each(:shelves) s CROSS JOIN json_each(:terms) t
  CROSS JOIN posting p ON p.tenant = :tenant AND p.shelf = s.value AND p.term = t.value
 ORDER BY p.shelf, p.term, p.block;

-- name: fresh_texts
SELECT f.shelf, f.slot, f.length, f.terms FROM json_each(:shelves) s
  CROSS JOIN fresh f ON f.tenant = :tenant AND f.shelf = s.value;

-- name: posting_block
SELECT p.term, p.data FROM json_each(:terms) t
  CROSS JOIN posting p ON p.tenant = :tenant AND p.shelf = :shelf AND p.term = t.value AND p.block = :block;

-- name: drop_blocks
-- The lists of some terms, of which nothing is left.
DELETE FROM posting WHERE tenant = :tenant AND shelf = :shelf AND block = :block
   AND term IN (SELECT value FROM json_each(:terms));

-- name: readable_slots
-- What these slots hold of memories that the question may see.
SELECT m.slot, {{memory_columns_m}} FROM json_each(:slots) s
  CROSS JOIN memory m ON m.tenant = :tenant AND m.shelf = :shelf AND m.slot = s.value
 WHERE {{readable}};

-- name: readable_ids
SELECT m.id FROM json_each(:ids) i CROSS JOIN memory m ON m.tenant = :tenant AND m.id = i.value
 WHERE m.space || ':' || m.owner IN (SELECT value FROM json_each(:names)) AND {{readable}};

-- name: readable_identities
SELECT m.id FROM json_each(:shelves) s CROSS JOIN json_each(:identities) i
  CROSS JOIN memory m ON m.tenant = :tenant AND m.shelf = s.value AND m.identity = i.value
 WHERE m.state = 'active' AND {{readable}} ORDER BY m.id;

-- name: memories_by_id
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND id IN (SELECT value FROM json_each(:ids)) AND {{reached}};

-- name: identities_of
SELECT id, identity FROM memory
 WHERE tenant = :tenant AND id IN (SELECT value FROM json_each(:ids));

-- name: events_last
SELECT seq, at, type, shelf, data FROM event
 WHERE tenant = :tenant AND shelf IN (SELECT value FROM json_each(:shelves)) ORDER BY seq DESC LIMIT :limit;

-- name: audit_head
-- The hash as bytes: it may be damaged. With it comes what the write that asks will need.
SELECT seq, CAST(hash AS BLOB), at, {{also_heads}} FROM audit
 WHERE tenant = :tenant AND seq > :first AND seq < :beyond ORDER BY seq DESC LIMIT 1;

-- name: sealed_episodes
-- Episodes that end.
SELECT {{sealed_memory_columns}} FROM memory
 WHERE tenant = :tenant AND id IN (SELECT value FROM json_each(:ids)) AND state = 'active' AND layer = 'episodic'
   AND expires_at IS NOT NULL ORDER BY id;

-- name: sealed_phase
SELECT {{sealed_phase_columns}} FROM phase
 WHERE tenant = :tenant AND shelf IN (SELECT value FROM json_each(:shelves)) ORDER BY shelf, number;

-- name: put_checkpoint
-- A state put twice is the same state: its parent stays, the rest is what was said last.
INSERT INTO checkpoint (tenant, user_name, thread, ns, id, parent, run, channels, type, body, metadata)
VALUES (:tenant, :user, :thread, :ns, :id, :parent, :run, :channels, :type, :body, :metadata)
ON CONFLICT (tenant, user_name, thread, ns, id) DO UPDATE SET
  run = excluded.run, channels = excluded.channels, type = excluded.type, body = excluded.body,
  metadata = excluded.metadata;

-- name: add_checkpoint_blob
INSERT INTO checkpoint_blob (tenant, user_name, thread, ns, channel, version, type, data)
VALUES (:tenant, :user, :thread, :ns, :channel, :version, :type, :data) ON CONFLICT DO NOTHING;

-- name: add_checkpoint_write
-- A task that is run again says again what it said.
INSERT INTO checkpoint_write (tenant, user_name, thread, ns, checkpoint, task, idx, path, channel, type, data)
VALUES (:tenant, :user, :thread, :ns, :checkpoint, :task, :idx, :path, :channel, :type, :data)
ON CONFLICT DO NOTHING;

-- name: put_checkpoint_write
-- Errors, interrupts and answers to them: the newest counts.
INSERT INTO checkpoint_write (tenant, user_name, thread, ns, checkpoint, task, idx, path, channel, type, data)
VALUES (:tenant, :user, :thread, :ns, :checkpoint, :task, :idx, :path, :channel, :type, :data)
ON CONFLICT (tenant, user_name, thread, ns, checkpoint, task, idx) DO UPDATE SET
  channel = excluded.channel, type = excluded.type, data = excluded.data;

-- name: put_checkpoint_head
-- Never back to an older state.
INSERT INTO supervisor_checkpoints
  (tenant, id, user_id, thread_id, checkpoint_id, checkpoint_data, created_at, updated_at)
VALUES (:tenant, :head, :user, :thread, :id, :data, :now, :now)
ON CONFLICT (tenant, user_id, thread_id) DO UPDATE SET
  checkpoint_id = excluded.checkpoint_id, checkpoint_data = excluded.checkpoint_data,
  updated_at = excluded.updated_at
 WHERE excluded.checkpoint_id >= supervisor_checkpoints.checkpoint_id;

-- name: load_checkpoint
-- The newest checkpoint in a range of ids, with the values of its channels and what was written on top of it.
WITH c AS NOT MATERIALIZED (
  SELECT id, parent, channels, type, body, metadata FROM checkpoint
   WHERE {{of_thread}} AND ns = :ns AND id >= :id AND id <= :id_last ORDER BY id DESC LIMIT 1)
SELECT 'checkpoint', id, parent, type, body, metadata, 0 FROM c
UNION ALL
SELECT 'value', b.channel, NULL, b.type, b.data, NULL, 0 FROM c, json_each(c.channels) v
  CROSS JOIN checkpoint_blob b ON b.tenant = :tenant AND b.user_name = :user AND b.thread = :thread AND b.ns = :ns
   AND b.channel = v.key AND b.version = v.value
UNION ALL
SELECT 'write', w.task, w.channel, w.type, w.data, w.path, w.idx FROM c
  CROSS JOIN checkpoint_write w ON w.tenant = :tenant AND w.user_name = :user AND w.thread = :thread AND w.ns = :ns
   AND w.checkpoint = c.id;

-- name: sweep_checkpoint_blobs
-- Values that no checkpoint has any more.
DELETE FROM checkpoint_blob
 WHERE {{of_thread}} AND (ns, channel, version) NOT IN (
   SELECT c.ns, v.key, v.value FROM checkpoint c, json_each(c.channels) v
    WHERE c.tenant = :tenant AND c.user_name = :user AND c.thread = :thread AND v.value IS NOT NULL);

-- fragment: readable
-- Only what was said to hold from a later time on is held back until then, never what another clock dated ahead. Most
-- questions narrow nothing: then none of what they could is looked at, row by row.
m.state = 'active'
 AND (m.expires_at IS NULL OR m.expires_at > :now)
 AND (m.valid_until IS NULL OR m.valid_until > :now)
 AND (m.valid_from IS NULL OR m.valid_from <= :now OR m.valid_from <= m.created_at)
 AND {{reached}}
 AND (:narrowed = 0 OR (
      (:layers = '[]' OR m.layer IN (SELECT value FROM json_each(:layers)))
  AND (:kinds = '[]' OR m.kind IN (SELECT value FROM json_each(:kinds)))
  AND (:categories = '[]' OR {{topic}} IN (SELECT value FROM json_each(:categories)))
  AND (:since IS NULL OR coalesce(min(m.valid_from, m.created_at), m.created_at) >= :since)
  AND (:until IS NULL OR coalesce(min(m.valid_from, m.created_at), m.created_at) < :until)
  AND (:trusted = 0 OR m.trust = 'trusted')
  AND (:filtered = 0 OR ({{filtered}}))
  AND (:phases = '[]' OR m.space || ':' || m.owner || ' ' || m.phase IN (SELECT value FROM json_each(:phases)))))

-- fragment: filtered
-- What `memory.query` may ask of a memory beside its words; of its provenance as it stands in the JSON, so that one
-- that is damaged stops nothing.
(:agent_id IS NULL OR instr(m.provenance, :agent_id) > 0)
 AND (:run_id IS NULL OR instr(m.provenance, :run_id) > 0)
 AND (:actor_id IS NULL OR instr(m.provenance, :actor_id) > 0)
 AND (:role IS NULL OR instr(m.provenance, :role) > 0)
 AND (:category IS NULL OR {{topic}} = :category)
 AND (:pinned IS NULL OR m.pinned = :pinned)
 AND (:importance_min IS NULL OR m.importance >= :importance_min)
 AND (:importance_max IS NULL OR m.importance <= :importance_max)
 AND (:updated_after IS NULL OR m.updated_at >= :updated_after)
 AND (:updated_before IS NULL OR m.updated_at < :updated_before)

-- name: readable_passages
-- Which of these slots hold a passage that the question may see.
SELECT p.slot, p.path, p.number FROM json_each(:slots) s
  CROSS JOIN passage p ON p.tenant = :tenant AND p.shelf = :shelf AND p.slot = s.value
  CROSS JOIN document d ON d.tenant = p.tenant AND d.path = p.path
 WHERE d.gone = 0 AND d.depth <= :depth AND (:since IS NULL OR p.dated_at >= :since)
   AND (:until IS NULL OR p.dated_at < :until);

-- name: passages_at
SELECT {{passage_columns}}, d.stamp FROM json_each(:paths) w
  CROSS JOIN json_each(:numbers) n ON n.key = w.key
  CROSS JOIN passage p ON p.tenant = :tenant AND p.path = w.value AND p.number = n.value
  CROSS JOIN document d ON d.tenant = p.tenant AND d.path = p.path AND d.gone = 0;

-- name: neighbours_at
-- The lasting statements in some slots, with what they are compared by.
SELECT m.slot, m.id, m.key, m.text FROM json_each(:slots) s
  CROSS JOIN memory m ON m.tenant = :tenant AND m.shelf = :shelf AND m.slot = s.value
 WHERE m.state = 'active' AND m.layer = 'semantic' AND {{reached}};

-- name: relations_among
-- How strongly each pair of these is linked.
SELECT r.from_id, r.to_id, r.strength FROM json_each(:ids) i
  CROSS JOIN relation r ON r.tenant = :tenant AND r.from_id = i.value
 WHERE r.to_id IN (SELECT value FROM json_each(:ids));

-- name: relations_with
-- How strongly some of these are linked to others of them.
SELECT r.from_id, r.to_id, r.strength FROM json_each(:some) i
  CROSS JOIN relation r ON r.tenant = :tenant AND r.from_id = i.value
 WHERE r.to_id IN (SELECT value FROM json_each(:ids)) UNION ALL
SELECT r.from_id, r.to_id, r.strength FROM json_each(:some) i
  CROSS JOIN relation r INDEXED BY relation_to ON r.tenant = :tenant AND r.to_id = i.value
 WHERE r.from_id IN (SELECT value FROM json_each(:ids));

-- name: relations_touching
-- The strongest edges at each of these, whichever way round.
SELECT here, from_id, to_id, type, strength, explicit, created_at FROM (
  SELECT e.*, row_number() OVER (PARTITION BY here ORDER BY strength DESC, from_id, to_id, type) AS place FROM (
    SELECT r.from_id AS here, r.* FROM json_each(:ids) i
      CROSS JOIN relation r ON r.tenant = :tenant AND r.from_id = i.value UNION ALL
    SELECT r.to_id AS here, r.* FROM json_each(:ids) i
      CROSS JOIN relation r INDEXED BY relation_to ON r.tenant = :tenant AND r.to_id = i.value) e) t
 WHERE place <= :most ORDER BY strength DESC, from_id, to_id, type, here;

-- name: relations_from
-- The edges from what stands in some slots.
SELECT r.from_id, r.to_id, r.strength FROM json_each(:slots) s
  CROSS JOIN memory m ON m.tenant = :tenant AND m.shelf = :shelf AND m.slot = s.value
  CROSS JOIN relation r ON r.tenant = m.tenant AND r.from_id = m.id
 WHERE {{reached}};

-- name: relations_beside
-- What the strongest edges at each of these lead to, outside of some and where the question may look: each once, with
-- its strongest edge.
SELECT z.here, z.type, z.strength, {{memory_columns_z}} FROM (
  SELECT t.here, t.from_id, t.to_id, t.type, t.strength, {{memory_columns_m}}, row_number() OVER (
         PARTITION BY m.id ORDER BY t.strength DESC, t.from_id, t.to_id, t.type, t.here) AS nth FROM (
    SELECT e.*, row_number() OVER (PARTITION BY here ORDER BY strength DESC, from_id, to_id, type) AS place FROM (
      SELECT r.from_id AS here, r.* FROM json_each(:ids) i
        CROSS JOIN relation r ON r.tenant = :tenant AND r.from_id = i.value UNION ALL
      SELECT r.to_id AS here, r.* FROM json_each(:ids) i
        CROSS JOIN relation r INDEXED BY relation_to ON r.tenant = :tenant AND r.to_id = i.value) e) t
    CROSS JOIN memory m ON m.tenant = :tenant AND m.id = CASE WHEN t.here = t.from_id THEN t.to_id ELSE t.from_id END
   WHERE t.place <= :most AND m.id NOT IN (SELECT value FROM json_each(:outside))
     AND m.space || ':' || m.owner IN (SELECT value FROM json_each(:names)) AND {{readable}}) z
 WHERE z.nth = 1 ORDER BY z.strength DESC, z.from_id, z.to_id, z.type, z.here LIMIT :limit;

-- fragment: listed
-- Everything on a shelf within what was asked for, in whatever state; what is past its time is over.
m.tenant = :tenant AND m.shelf = :shelf
 AND (m.state <> 'active' OR m.expires_at IS NULL OR m.expires_at > :now)
 AND (:layers = '[]' OR m.layer IN (SELECT value FROM json_each(:layers)))
 AND (:kinds = '[]' OR m.kind IN (SELECT value FROM json_each(:kinds)))
 AND (:categories = '[]' OR {{topic}} IN (SELECT value FROM json_each(:categories)))
 AND {{reached}}
 AND (:since IS NULL OR coalesce(min(m.valid_from, m.created_at), m.created_at) >= :since)
 AND (:until IS NULL OR coalesce(min(m.valid_from, m.created_at), m.created_at) < :until)
 AND (:trusted = 0 OR m.trust = 'trusted')
 AND (:phases = '[]' OR m.space || ':' || m.owner || ' ' || m.phase IN (SELECT value FROM json_each(:phases)))
 AND (:said_by IS NULL OR m.actor = :said_by OR m.provenance ->> 'agent' = :said_by)
 AND (:tags = '[]' OR EXISTS (
   SELECT 1 FROM json_each(m.tags) t WHERE t.value IN (SELECT value FROM json_each(:tags))))

-- name: list_memories
-- A page, newest first, behind a time and id.
SELECT m.created_at, m.id FROM memory m
 WHERE {{listed}} AND m.state IN (SELECT value FROM json_each(:states))
   AND (:at IS NULL OR m.created_at < :at OR m.created_at = :at AND m.id < :id)
 ORDER BY m.created_at DESC, m.id DESC LIMIT :limit;

-- name: list_oldest
-- A page, oldest first, behind a time and id.
SELECT m.created_at, m.id FROM memory m
 WHERE {{listed}} AND m.state IN (SELECT value FROM json_each(:states))
   AND (:at IS NULL OR m.created_at > :at OR m.created_at = :at AND m.id > :id)
 ORDER BY m.created_at, m.id LIMIT :limit;

-- name: list_important
-- A page, what matters most first and of that the newest, behind both in one number, and an id.
SELECT m.importance * 4503599627370496 + m.created_at, m.id FROM memory m
 WHERE {{listed}} AND m.state IN (SELECT value FROM json_each(:states))
   AND (:at IS NULL OR m.importance * 4503599627370496 + m.created_at < :at
        OR m.importance * 4503599627370496 + m.created_at = :at AND m.id < :id)
 ORDER BY m.importance DESC, m.created_at DESC, m.id DESC LIMIT :limit;

-- name: count_listed
SELECT m.state, m.layer, m.kind, {{topic}}, m.actor, m.trust, m.tags, count(*) FROM memory m
 WHERE {{listed}} GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- name: refusals_marked
-- Those that stand and have one of these marks.
SELECT m.mark, m.number, m.telling, r.asked_at FROM json_each(:marks) w
  CROSS JOIN refusal_mark m ON m.tenant = :tenant AND m.owner = :owner AND m.mark = w.value
  JOIN refusal r ON r.tenant = m.tenant AND r.owner = m.owner AND r.number = m.number
 WHERE r.lifted_at IS NULL ORDER BY m.number, m.mark, m.part;

-- name: derived_from
-- What may have come of a person's memory: the same words, what names it as its source, the turns it was said in.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND id <> :id AND state IN ('active', 'expired', 'pending') AND {{of_person}} AND {{reached}}
   AND (text = :text OR :telling = 1 AND replace(text, :text, '') <> text OR :turn = 1 AND replace(:text, text, '') <> :text OR replace(provenance, :named, '') <> provenance
     OR state = 'active' AND (layer = 'working' OR authority = 'ai_inferred') OR id IN (SELECT value FROM json_each(:sources))) ORDER BY id LIMIT 2000;

-- name: tables_of_tenants
-- Every column of every table that has rows of tenants, with its place in the key, 0 outside of it.
SELECT t.name, c.name, c.pk FROM sqlite_schema t JOIN pragma_table_info(t.name) c
 WHERE t.type = 'table' AND EXISTS (SELECT 1 FROM pragma_table_info(t.name) WHERE name = 'tenant')
 ORDER BY t.name, c.name;

-- name: add_operational
INSERT INTO operational (tenant, number, at, user_name, thread, node, op, status, memory_id, category, sim)
VALUES (
  :tenant, (SELECT coalesce(max(number), 0) + 1 FROM operational WHERE tenant = :tenant),
  :at, :user, :thread, :node, :op, :status, :memory_id, :category, :sim);

-- name: next_shared
-- The next of numbers that nobody is told.
INSERT INTO counter (tenant, name, value) VALUES (:tenant, :name, 1)
ON CONFLICT (tenant, name) DO UPDATE SET value = counter.value + 1
RETURNING value;

-- name: raise_shared
-- Each is at least as far as what is numbered by it; what comes from a file has that already.
INSERT INTO counter (tenant, name, value)
SELECT :tenant, used.name, used.number FROM (
  SELECT 'shelf' AS name, max(number) AS number FROM shelf WHERE tenant = :tenant
  UNION ALL SELECT 'vectors', max(version) FROM vector_shelf WHERE tenant = :tenant
  UNION ALL SELECT 'operation', max(id) FROM operation WHERE tenant = :tenant) AS used
 WHERE used.number > coalesce(
   (SELECT value FROM counter WHERE tenant = :tenant AND counter.name = used.name), 0)
ON CONFLICT (tenant, name) DO UPDATE SET value = excluded.value RETURNING value;
