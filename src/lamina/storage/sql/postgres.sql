-- What PostgreSQL spells its own way: lists travel as arrays.

-- name: shelf_statistics
SELECT number, members, length, next_slot, name, phase, linked, making FROM shelf
 WHERE tenant = :tenant AND name = ANY(:names) AND members > 0;

-- name: add_posting
INSERT INTO posting (tenant, shelf, term, block, data) VALUES (:tenant, :shelf, :term, :block, :data)
ON CONFLICT (tenant, shelf, term, block) DO UPDATE SET data = posting.data || excluded.data;

-- name: add_vector_block
INSERT INTO vector_block (tenant, shelf, embedder, block, version, data)
VALUES (:tenant, :shelf, :embedder, :block, :version, :data)
ON CONFLICT (tenant, shelf, embedder, block) DO UPDATE
   SET data = vector_block.data || excluded.data, version = excluded.version;

-- name: posting_blocks
-- Every block of these terms on these shelves, in order.
SELECT shelf, term, block, data FROM posting
 WHERE tenant = :tenant AND shelf = ANY(:shelves) AND term = ANY(:terms)
 ORDER BY shelf, term, block;

-- name: fresh_texts
SELECT shelf, slot, length, terms FROM fresh WHERE tenant = :tenant AND shelf = ANY(:shelves);

-- name: posting_block
SELECT term, data FROM posting
 WHERE tenant = :tenant AND shelf = :shelf AND term = ANY(:terms) AND block = :block;

-- name: drop_blocks
-- The lists of some terms, of which nothing is left.
DELETE FROM posting WHERE tenant = :tenant AND shelf = :shelf AND term = ANY(:terms) AND block = :block;

-- name: readable_slots
-- What these slots hold of memories that the question may see.
SELECT m.slot, {{memory_columns_m}} FROM memory m
 WHERE m.tenant = :tenant AND m.shelf = :shelf AND m.slot = ANY(:slots) AND {{readable}};

-- name: readable_ids
SELECT m.id FROM memory m
 WHERE m.tenant = :tenant AND m.id = ANY(:ids) AND m.space || ':' || m.owner = ANY(:names) AND {{readable}};

-- name: readable_identities
SELECT m.id FROM memory m
 WHERE m.tenant = :tenant AND m.shelf = ANY(:shelves) AND m.identity = ANY(:identities)
   AND m.state = 'active' AND {{readable}} ORDER BY m.id;

-- name: memories_by_id
SELECT {{memory_columns}} FROM memory WHERE tenant = :tenant AND id = ANY(:ids) AND {{reached}};

-- name: identities_of
SELECT id, identity FROM memory WHERE tenant = :tenant AND id = ANY(:ids);

-- name: events_last
SELECT seq, at, type, shelf, data FROM event
 WHERE tenant = :tenant AND shelf = ANY(:shelves) ORDER BY seq DESC LIMIT :limit;

-- name: audit_head
SELECT seq, hash, at, {{also_heads}} FROM audit
 WHERE tenant = :tenant AND seq > :first AND seq < :beyond ORDER BY seq DESC LIMIT 1;

-- name: sealed_episodes
-- Episodes that end.
SELECT {{sealed_memory_columns}} FROM memory
 WHERE tenant = :tenant AND id = ANY(:ids) AND state = 'active' AND layer = 'episodic'
   AND expires_at IS NOT NULL ORDER BY id;

-- name: sealed_phase
SELECT {{sealed_phase_columns}} FROM phase
 WHERE tenant = :tenant AND shelf = ANY(:shelves) ORDER BY shelf, number;

-- name: put_checkpoint
-- A state put twice is the same state: its parent stays, the rest is what was said last. (This and the next four are
-- functions, made by a migration: the server keeps their plans, where it would make one for each statement.)
SELECT lamina.put_checkpoint(
  :tenant, :user, :thread, :ns, :id, :parent, :run, :channels, :type, :body, :metadata);

-- name: add_checkpoint_blob
SELECT lamina.add_checkpoint_blob(:tenant, :user, :thread, :ns, :channel, :version, :type, :data);

-- name: add_checkpoint_write
-- A task that is run again says again what it said.
SELECT lamina.add_checkpoint_write(
  :tenant, :user, :thread, :ns, :checkpoint, :task, :idx, :path, :channel, :type, :data);

-- name: put_checkpoint_write
-- Errors, interrupts and answers to them: the newest counts.
SELECT lamina.put_checkpoint_write(
  :tenant, :user, :thread, :ns, :checkpoint, :task, :idx, :path, :channel, :type, :data);

-- name: put_checkpoint_head
-- Never back to an older state.
SELECT lamina.put_checkpoint_head(:tenant, :head, :user, :thread, :id, :data, :now);

-- name: load_checkpoint
-- The newest checkpoint in a range of ids, with the values of its channels and what was written on top of it.
WITH c AS (
  SELECT id, parent, channels, type, body, metadata FROM checkpoint
   WHERE {{of_thread}} AND ns = :ns AND id >= :id AND id <= :id_last ORDER BY id DESC LIMIT 1)
SELECT 'checkpoint', id, parent, type, body, metadata, 0::bigint FROM c
UNION ALL
SELECT 'value', b.channel, NULL, b.type, b.data, NULL, 0 FROM c CROSS JOIN LATERAL jsonb_each_text(c.channels::jsonb) v
  JOIN checkpoint_blob b ON b.tenant = :tenant AND b.user_name = :user AND b.thread = :thread AND b.ns = :ns
   AND b.channel = v.key AND b.version = v.value
UNION ALL
SELECT 'write', w.task, w.channel, w.type, w.data, w.path, w.idx FROM c
  JOIN checkpoint_write w ON w.tenant = :tenant AND w.user_name = :user AND w.thread = :thread AND w.ns = :ns
   AND w.checkpoint = c.id;

-- name: sweep_checkpoint_blobs
-- Values that no checkpoint has any more.
DELETE FROM checkpoint_blob
 WHERE {{of_thread}} AND (ns, channel, version) NOT IN (
   SELECT c.ns, v.key, v.value FROM checkpoint c CROSS JOIN LATERAL jsonb_each_text(c.channels::jsonb) v
    WHERE c.tenant = :tenant AND c.user_name = :user AND c.thread = :thread AND v.value IS NOT NULL);

-- fragment: readable
-- Only what was said to hold from a later time on is held back until then, never what another clock dated ahead.
m.state = 'active'
 AND (m.expires_at IS NULL OR m.expires_at > :now)
 AND (m.valid_until IS NULL OR m.valid_until > :now)
 AND (m.valid_from IS NULL OR m.valid_from <= :now OR m.valid_from <= m.created_at)
 AND (cardinality(:layers::text[]) = 0 OR m.layer = ANY(:layers))
 AND (cardinality(:kinds::text[]) = 0 OR m.kind = ANY(:kinds))
 AND (cardinality(:categories::text[]) = 0 OR {{topic}} = ANY(:categories))
 AND {{reached}}
 AND (:since::bigint IS NULL OR least(m.valid_from, m.created_at) >= :since)
 AND (:until::bigint IS NULL OR least(m.valid_from, m.created_at) < :until)
 AND (:trusted = 0 OR m.trust = 'trusted')
 AND (:filtered = 0 OR ({{filtered}}))
 AND (cardinality(:phases::text[]) = 0 OR m.space || ':' || m.owner || ' ' || m.phase = ANY(:phases))

-- fragment: filtered
-- What `memory.query` may ask of a memory beside its words; of its provenance as it stands in the JSON, so that one
-- that is damaged stops nothing.
(:agent_id::text IS NULL OR strpos(m.provenance, :agent_id) > 0)
 AND (:run_id::text IS NULL OR strpos(m.provenance, :run_id) > 0)
 AND (:actor_id::text IS NULL OR strpos(m.provenance, :actor_id) > 0)
 AND (:role::text IS NULL OR strpos(m.provenance, :role) > 0)
 AND (:category::text IS NULL OR {{topic}} = :category)
 AND (:pinned::bigint IS NULL OR m.pinned = :pinned)
 AND (:importance_min::bigint IS NULL OR m.importance >= :importance_min)
 AND (:importance_max::bigint IS NULL OR m.importance <= :importance_max)
 AND (:updated_after::bigint IS NULL OR m.updated_at >= :updated_after)
 AND (:updated_before::bigint IS NULL OR m.updated_at < :updated_before)

-- name: readable_passages
-- Which of these slots hold a passage that the question may see.
SELECT p.slot, p.path, p.number FROM passage p JOIN document d ON d.tenant = p.tenant AND d.path = p.path
 WHERE p.tenant = :tenant AND p.shelf = :shelf AND p.slot = ANY(:slots)
   AND d.gone = 0 AND d.depth <= :depth AND (:since::bigint IS NULL OR p.dated_at >= :since)
   AND (:until::bigint IS NULL OR p.dated_at < :until);

-- name: passages_at
SELECT {{passage_columns}}, d.stamp FROM unnest(:paths::text[], :numbers::bigint[]) AS w(path, number)
  JOIN passage p ON p.tenant = :tenant AND p.path = w.path AND p.number = w.number
  JOIN document d ON d.tenant = p.tenant AND d.path = p.path AND d.gone = 0;

-- name: neighbours_at
-- The lasting statements in some slots, with what they are compared by.
SELECT m.slot, m.id, m.key, m.text FROM memory m
 WHERE m.tenant = :tenant AND m.shelf = :shelf AND m.slot = ANY(:slots)
   AND m.state = 'active' AND m.layer = 'semantic' AND {{reached}};

-- name: relations_among
-- How strongly each pair of these is linked.
SELECT from_id, to_id, strength FROM relation
 WHERE tenant = :tenant AND from_id = ANY(:ids) AND to_id = ANY(:ids);

-- name: relations_with
-- How strongly some of these are linked to others of them.
SELECT from_id, to_id, strength FROM relation
 WHERE tenant = :tenant AND ((from_id = ANY(:some) AND to_id = ANY(:ids)) OR (to_id = ANY(:some) AND from_id = ANY(:ids)));

-- name: relations_touching
-- The strongest edges at each of these, whichever way round.
SELECT here, from_id, to_id, type, strength, explicit, created_at FROM (
  SELECT e.*, row_number() OVER (PARTITION BY here ORDER BY strength DESC, from_id, to_id, type) AS place FROM (
    SELECT r.from_id AS here, r.* FROM relation r WHERE r.tenant = :tenant AND r.from_id = ANY(:ids) UNION ALL
    SELECT r.to_id AS here, r.* FROM relation r WHERE r.tenant = :tenant AND r.to_id = ANY(:ids)) e) t
 WHERE place <= :most ORDER BY strength DESC, from_id, to_id, type, here;

-- name: relations_from
-- The edges from what stands in some slots.
SELECT r.from_id, r.to_id, r.strength FROM memory m JOIN relation r ON r.tenant = m.tenant AND r.from_id = m.id
 WHERE m.tenant = :tenant AND m.shelf = :shelf AND m.slot = ANY(:slots) AND {{reached}};

-- name: relations_beside
-- What the strongest edges at each of these lead to, outside of some and where the question may look: each once, with
-- its strongest edge.
SELECT z.here, z.type, z.strength, {{memory_columns_z}} FROM (
  SELECT t.here, t.from_id, t.to_id, t.type, t.strength, {{memory_columns_m}}, row_number() OVER (
         PARTITION BY m.id ORDER BY t.strength DESC, t.from_id, t.to_id, t.type, t.here) AS nth FROM (
    SELECT e.*, row_number() OVER (PARTITION BY here ORDER BY strength DESC, from_id, to_id, type) AS place FROM (
      SELECT r.from_id AS here, r.* FROM relation r WHERE r.tenant = :tenant AND r.from_id = ANY(:ids) UNION ALL
      SELECT r.to_id AS here, r.* FROM relation r WHERE r.tenant = :tenant AND r.to_id = ANY(:ids)) e) t
    JOIN memory m ON m.tenant = :tenant AND m.id = CASE WHEN t.here = t.from_id THEN t.to_id ELSE t.from_id END
   WHERE t.place <= :most AND NOT (m.id = ANY(:outside)) AND m.space || ':' || m.owner = ANY(:names) AND {{readable}}) z
 WHERE z.nth = 1 ORDER BY z.strength DESC, z.from_id, z.to_id, z.type, z.here LIMIT :limit;

-- fragment: listed
-- Everything on a shelf within what was asked for, in whatever state; what is past its time is over.
m.tenant = :tenant AND m.shelf = :shelf
 AND (m.state <> 'active' OR m.expires_at IS NULL OR m.expires_at > :now)
 AND (cardinality(:layers::text[]) = 0 OR m.layer = ANY(:layers))
 AND (cardinality(:kinds::text[]) = 0 OR m.kind = ANY(:kinds))
 AND (cardinality(:categories::text[]) = 0 OR {{topic}} = ANY(:categories))
 AND {{reached}}
 AND (:since::bigint IS NULL OR least(m.valid_from, m.created_at) >= :since)
 AND (:until::bigint IS NULL OR least(m.valid_from, m.created_at) < :until)
 AND (:trusted = 0 OR m.trust = 'trusted')
 AND (cardinality(:phases::text[]) = 0 OR m.space || ':' || m.owner || ' ' || m.phase = ANY(:phases))
 AND (:said_by::text IS NULL OR m.actor = :said_by
   OR m.provenance::jsonb ->> 'agent' = :said_by)
 AND (cardinality(:tags::text[]) = 0 OR jsonb_exists_any(m.tags::jsonb, :tags::text[]))

-- name: list_memories
-- A page, newest first, behind a time and id.
SELECT m.created_at, m.id FROM memory m
 WHERE {{listed}} AND m.state = ANY(:states)
   AND (:at::bigint IS NULL OR m.created_at < :at OR m.created_at = :at AND m.id < :id)
 ORDER BY m.created_at DESC, m.id DESC LIMIT :limit;

-- name: list_oldest
-- A page, oldest first, behind a time and id.
SELECT m.created_at, m.id FROM memory m
 WHERE {{listed}} AND m.state = ANY(:states)
   AND (:at::bigint IS NULL OR m.created_at > :at OR m.created_at = :at AND m.id > :id)
 ORDER BY m.created_at, m.id LIMIT :limit;

-- name: list_important
-- A page, what matters most first and of that the newest, behind both in one number, and an id.
SELECT m.importance * 4503599627370496 + m.created_at, m.id FROM memory m
 WHERE {{listed}} AND m.state = ANY(:states)
   AND (:at::bigint IS NULL OR m.importance * 4503599627370496 + m.created_at < :at
        OR m.importance * 4503599627370496 + m.created_at = :at AND m.id < :id)
 ORDER BY m.importance DESC, m.created_at DESC, m.id DESC LIMIT :limit;

-- name: count_listed
SELECT m.state, m.layer, m.kind, {{topic}}, m.actor, m.trust, m.tags, count(*) FROM memory m
 WHERE {{listed}} GROUP BY 1, 2, 3, 4, 5, 6, 7;

-- name: refusals_marked
-- Those that stand and have one of these marks.
SELECT m.mark, m.number, m.telling, r.asked_at FROM refusal_mark m
  JOIN refusal r ON r.tenant = m.tenant AND r.owner = m.owner AND r.number = m.number
 WHERE m.tenant = :tenant AND m.owner = :owner AND m.mark = ANY(:marks) AND r.lifted_at IS NULL
 ORDER BY m.number, m.mark, m.part;

-- name: derived_from
-- What may have come of a person's memory: the same words, what names it as its source, the turns it was said in.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND id <> :id AND state IN ('active', 'expired', 'pending') AND {{of_person}} AND {{reached}}
   AND (text = :text OR :telling = 1 AND replace(text, :text, '') <> text OR :turn = 1 AND replace(:text, text, '') <> :text OR replace(provenance, :named, '') <> provenance
     OR state = 'active' AND (layer = 'working' OR authority = 'ai_inferred') OR id = ANY(:sources)) ORDER BY id LIMIT 2000;

-- name: tables_of_tenants
-- Every column of every table that has rows of tenants, with its place in the key, 0 outside of it.
SELECT c.relname::text COLLATE "C", a.attname::text COLLATE "C",
       coalesce(array_position(i.indkey::int2[], a.attnum) + 1, 0)
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'lamina'
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
  LEFT JOIN pg_index i ON i.indrelid = c.oid AND i.indisprimary
 WHERE c.relkind IN ('r', 'p')
   AND EXISTS (SELECT 1 FROM pg_attribute t WHERE t.attrelid = c.oid AND t.attname = 'tenant')
 ORDER BY 1, 2;

-- name: add_operational
INSERT INTO operational (tenant, number, at, user_name, thread, node, op, status, memory_id, category, sim)
VALUES (
  :tenant, nextval('shared_number'),
  :at, :user, :thread, :node, :op, :status, :memory_id, :category, :sim);

-- name: next_shared
-- The next of numbers that nobody is told: two who ask for one do not wait for each other.
SELECT nextval('shared_number');

-- name: raise_shared
-- They are at least so far from now on.
SELECT setval('shared_number', greatest(nextval('shared_number'), :value::bigint));
