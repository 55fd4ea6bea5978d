-- How a memory ends: put aside unused, and purged.

-- name: unused_memories
-- What matters little and nobody has found or changed for long, the longest unused first; turns have their own window.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND state = 'active' AND importance < :below AND pinned = 0 AND updated_at < :before
   AND coalesce(last_accessed_at, created_at) < :before AND (file IS NULL OR file LIKE :learnt)
   AND identity NOT LIKE 'turn:%' AND identity NOT LIKE 'summary:%'
 ORDER BY coalesce(last_accessed_at, created_at), id LIMIT :limit;

-- name: due_memories
-- What was put aside and can no longer be restored, the longest due first.
SELECT id FROM memory
 WHERE tenant = :tenant AND state = 'soft_deleted' AND purge_at <= :now ORDER BY purge_at, id LIMIT :limit;

-- name: put_aside_on
-- What was put aside on a shelf and, with a time, is due by then.
SELECT id FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'soft_deleted' AND purge_at <= :now AND {{reached}}
 ORDER BY id LIMIT :limit;

-- name: same_words
-- Other memories of a person that say the very same, or say it too, in what is beside their text perhaps, where
-- that is long enough to tell.
SELECT id FROM memory
 WHERE tenant = :tenant AND {{of_person}} AND {{reached}}
   AND (text = :text OR :telling = 1 AND (replace(text, :text, '') <> text OR replace(tags, :text, '') <> tags OR replace(provenance, :text, '') <> provenance))
 ORDER BY id LIMIT 20;

-- fragment: of_person
(space = 'user' AND owner = :owner OR space = 'session' AND (owner = :owner OR owner >= :first AND owner < :beyond))

-- name: taken_over
-- What a memory took the place of, or was made of.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND superseded_by = :id AND state = 'superseded' AND {{reached}} ORDER BY id;

-- name: purge_memory
DELETE FROM memory WHERE tenant = :tenant AND id = :id RETURNING {{sealed_memory_columns}};

-- name: purge_history
DELETE FROM history WHERE tenant = :tenant AND memory_id = :id RETURNING {{sealed_history_columns}};

-- name: echoes
-- Steps of a successor that repeat what it took the place of.
SELECT number FROM history WHERE tenant = :tenant AND memory_id = :id AND old_text = :text ORDER BY number;

-- name: scrub_step
UPDATE history SET old_text = NULL WHERE tenant = :tenant AND memory_id = :id AND number = :number;

-- name: purge_responses
-- Answers that name a memory, quotes and all, and may repeat its words.
DELETE FROM idempotency WHERE tenant = :tenant AND replace(response, :named, '') <> response;

-- name: purge_entries
DELETE FROM entry WHERE tenant = :tenant AND memory_id = :id;

-- name: purge_counts
DELETE FROM operational WHERE tenant = :tenant AND memory_id = :id;

-- name: purge_reports
-- Words that a job reported.
UPDATE job_run SET report = replace(report, :words, '(purged)')
 WHERE tenant = :tenant AND replace(report, :words, '') <> report;

-- name: events_within
-- The events on the shelves in a range of names.
SELECT shelf, seq, data FROM event
 WHERE tenant = :tenant AND (shelf, seq) > (:shelf, :seq) AND shelf < :beyond ORDER BY shelf, seq LIMIT :limit;

-- name: write_event
UPDATE event SET data = :data WHERE tenant = :tenant AND seq = :seq;

-- name: count_rows
SELECT count(*) FROM memory WHERE tenant = :tenant AND id = :id AND {{reached}};

-- name: count_history
SELECT count(*) FROM history WHERE tenant = :tenant AND memory_id = :id;

-- name: count_responses
SELECT count(*) FROM idempotency WHERE tenant = :tenant AND replace(response, :named, '') <> response;

-- name: count_entries
SELECT count(*) FROM entry WHERE tenant = :tenant AND memory_id = :id;

-- name: count_counts
SELECT count(*) FROM operational WHERE tenant = :tenant AND memory_id = :id;

-- name: count_relations
SELECT count(*) FROM relation WHERE tenant = :tenant AND (from_id = :id OR to_id = :id);

-- name: count_unfinished
-- Changes to files that are still to do and name a memory.
SELECT count(*) FROM operation WHERE tenant = :tenant AND kind <> 'purge' AND replace(payload, :named, '') <> payload;

-- name: slots_taken
SELECT slot FROM memory WHERE tenant = :tenant AND shelf = :shelf AND slot IS NOT NULL AND {{reached}}
UNION ALL SELECT slot FROM passage WHERE tenant = :tenant AND shelf = :shelf AND slot IS NOT NULL;

-- name: posted_slots
SELECT block, data FROM posting WHERE tenant = :tenant AND shelf = :shelf;

-- name: fresh_slots
SELECT slot FROM fresh WHERE tenant = :tenant AND shelf = :shelf;

-- name: vector_slots
SELECT b.block, s.dimension, b.data FROM vector_block b
  JOIN vector_shelf s ON s.tenant = b.tenant AND s.shelf = b.shelf AND s.embedder = b.embedder
 WHERE b.tenant = :tenant AND b.shelf = :shelf;

-- name: fresh_vector_slots
SELECT slot FROM vector_fresh WHERE tenant = :tenant AND shelf = :shelf;

-- name: audit_ends
-- The records that let words be missing.
SELECT seq, op, memory_id, number FROM audit
 WHERE tenant = :tenant AND op IN ('purge', 'erase') AND memory_id IS NOT NULL ORDER BY seq;

-- name: audit_subjects
-- The records that may have had words.
SELECT seq, run_id, memory_id, number FROM audit
 WHERE tenant = :tenant AND seq > :after AND memory_id IS NOT NULL AND op NOT IN ('purge', 'purge_receipt', 'erase')
 ORDER BY seq LIMIT :limit;

-- name: audit_subjects_of
-- The same of one memory.
SELECT seq, run_id, memory_id, number FROM audit
 WHERE tenant = :tenant AND memory_id = :id AND op NOT IN ('purge', 'purge_receipt', 'erase') ORDER BY seq;

-- name: audit_of
-- What the chain says of a memory's end.
SELECT seq, at, op, actor, reason FROM audit
 WHERE tenant = :tenant AND memory_id = :id AND number IS NULL AND op IN ('purge', 'purge_receipt') ORDER BY seq;

-- name: export_memories
-- Everything on a person's shelves, in whatever state, a page at a time.
SELECT identity, {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND id > :after AND {{of_person}} AND {{reached}} ORDER BY id LIMIT :limit;

-- name: export_history
-- The lives of a page of a person's memories.
SELECT h.memory_id, h.number, h.revision, h.op, h.at, h.actor, h.via, h.old_text, h.new_text, h.decision FROM history h
  JOIN memory m ON m.tenant = h.tenant AND m.id = h.memory_id
 WHERE h.tenant = :tenant AND h.memory_id > :after AND h.memory_id <= :last AND {{of_person}} AND {{reached}}
 ORDER BY h.memory_id, h.number;

-- name: export_sessions
SELECT name, started_at, last_at, ended_at FROM session WHERE tenant = :tenant AND user_name = :user ORDER BY name;

-- name: drop_property
DELETE FROM property WHERE tenant = :tenant AND name = :name;

-- name: raise_number
-- A counter is never behind a number that is taken.
INSERT INTO counter (tenant, name, value) VALUES (:tenant, :name, :value)
ON CONFLICT (tenant, name) DO UPDATE
   SET value = CASE WHEN counter.value < excluded.value THEN excluded.value ELSE counter.value END;

-- name: summaries_of
-- The summaries of a session that tell of a turn.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = (SELECT number FROM shelf WHERE tenant = :tenant AND name = :shelf_name)
   AND state = 'active' AND identity LIKE 'summary:%' AND replace(meta, :named, '') <> meta ORDER BY id;

-- name: forgotten_with
-- What was put aside together with a memory of the same person.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND state = 'soft_deleted' AND ({{of_person}} OR shelf = :project)
   AND replace(meta, :named, '') <> meta AND {{reached}} ORDER BY id LIMIT 1000;

-- name: told_in_project
-- What one person and their agents said in a project with all the words of a text.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :project AND id <> :id AND state IN ('active', 'pending')
   AND replace(provenance, :user, '') <> provenance AND replace(text, :text, '') <> text AND {{reached}} ORDER BY id LIMIT 1000;

-- name: written_by
-- What of a person's has a name in where it is from: a session, an agent, a source.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND id > :after AND state IN ('active', 'pending') AND {{reached}}
   AND ({{of_person}} OR space = 'project' AND replace(provenance, :user, '') <> provenance)
   AND (replace(provenance, :named, '') <> provenance OR replace(meta, :named, '') <> meta) ORDER BY id LIMIT :limit;

-- name: may_say
-- What of a person's is active and long enough to say something.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND state = 'active' AND {{of_person}} AND length(text) >= :least AND {{reached}} ORDER BY id;
