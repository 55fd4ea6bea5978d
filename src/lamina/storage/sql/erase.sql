-- Everything of one person's, table by table. Each returns a row for each it took out, so that a second look
-- that finds nothing is a proof. `:own` and `:documents` are shelves, `:first` and `:beyond` the range of the
-- person's sessions, `:ids` and `:ids_beyond` that of the ids on their own shelf.

-- fragment: whose_shelf
(name IN (:own, :documents) OR name >= :first AND name < :beyond)

-- fragment: on_their_shelves
shelf IN (SELECT number FROM shelf WHERE tenant = :tenant AND {{whose_shelf}})

-- fragment: their_memory
(memory_id >= :ids AND memory_id < :ids_beyond OR memory_id >= :first AND memory_id < :beyond)

-- name: erase_history
DELETE FROM history WHERE tenant = :tenant AND {{their_memory}} RETURNING {{sealed_history_columns}};

-- name: erase_memory
DELETE FROM memory WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING {{sealed_memory_columns}};

-- name: erase_memory_count
-- Gone with the rows that were counted.
DELETE FROM memory_count WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_relation
DELETE FROM relation WHERE tenant = :tenant
   AND (from_id >= :ids AND from_id < :ids_beyond OR from_id >= :first AND from_id < :beyond
     OR to_id >= :ids AND to_id < :ids_beyond OR to_id >= :first AND to_id < :beyond) RETURNING {{sealed_relation_columns}};

-- name: erase_posting
DELETE FROM posting WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_fresh
DELETE FROM fresh WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_vector_block
DELETE FROM vector_block WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_vector_fresh
DELETE FROM vector_fresh WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_vector_shelf
DELETE FROM vector_shelf WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_placement
DELETE FROM placement WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_conversation
DELETE FROM conversation WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_phase
DELETE FROM phase WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING {{sealed_phase_columns}};

-- name: erase_passage
DELETE FROM passage WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_document
DELETE FROM document WHERE tenant = :tenant AND {{on_their_shelves}} RETURNING 1;

-- name: erase_shelf
DELETE FROM shelf WHERE tenant = :tenant AND {{whose_shelf}} RETURNING {{sealed_shelf_columns}};

-- name: erase_change_log
-- What they changed on shared shelves is counted there, and stays.
DELETE FROM change_log WHERE tenant = :tenant AND (shelf = :own OR shelf >= :first AND shelf < :beyond) RETURNING 1;

-- name: erase_event
DELETE FROM event WHERE tenant = :tenant AND (shelf = :own OR shelf >= :first AND shelf < :beyond) RETURNING {{sealed_event_columns}};

-- name: erase_idempotency
DELETE FROM idempotency WHERE tenant = :tenant AND caller >= :calls AND caller < :calls_beyond RETURNING 1;

-- name: erase_entry
DELETE FROM entry WHERE tenant = :tenant AND {{their_memory}} RETURNING 1;

-- name: erase_operation
DELETE FROM operation WHERE tenant = :tenant
   AND (replace(payload, :named, '') <> payload OR replace(payload, :named_session, '') <> payload) RETURNING 1;

-- name: erase_operational
DELETE FROM operational WHERE tenant = :tenant AND (user_name = :owner OR {{their_memory}}) RETURNING 1;

-- name: erase_operational_count
DELETE FROM operational_count WHERE tenant = :tenant AND user_name = :owner RETURNING 1;

-- name: erase_session
DELETE FROM session WHERE tenant = :tenant AND user_name = :user RETURNING 1;

-- name: erase_token
DELETE FROM token WHERE tenant = :tenant AND user_name = :user RETURNING {{sealed_token_columns}};

-- name: erase_import_position
DELETE FROM import_position WHERE tenant = :tenant AND user_name = :user RETURNING 1;

-- name: erase_import_entry
DELETE FROM import_entry WHERE tenant = :tenant AND user_name = :user RETURNING 1;

-- name: erase_checkpoint
DELETE FROM checkpoint WHERE tenant = :tenant AND user_name = :user RETURNING 1;

-- name: erase_checkpoint_blob
DELETE FROM checkpoint_blob WHERE tenant = :tenant AND user_name = :user RETURNING 1;

-- name: erase_checkpoint_write
DELETE FROM checkpoint_write WHERE tenant = :tenant AND user_name = :user RETURNING 1;

-- name: erase_supervisor_checkpoints
DELETE FROM supervisor_checkpoints WHERE tenant = :tenant AND user_id = :user RETURNING 1;

-- name: erase_job_mark
DELETE FROM job_mark WHERE tenant = :tenant AND owner = :owner RETURNING 1;

-- name: erase_property
DELETE FROM property WHERE tenant = :tenant
   AND (name IN (:allowed, :shown) OR name >= :exports AND name < :exports_beyond) RETURNING 1;

-- name: erase_refusal
DELETE FROM refusal WHERE tenant = :tenant AND owner = :owner RETURNING {{sealed_refusal_columns}};

-- name: erase_refusal_mark
DELETE FROM refusal_mark WHERE tenant = :tenant AND owner = :owner RETURNING {{sealed_refusal_mark_columns}};

-- name: erase_exposure
DELETE FROM exposure WHERE tenant = :tenant AND owner = :owner RETURNING 1;

-- name: erase_answer
DELETE FROM answer WHERE tenant = :tenant AND owner = :owner RETURNING 1;

-- name: erase_job_run
-- What jobs reported of the workspace's owner.
UPDATE job_run SET report = '{}' WHERE tenant = :tenant AND report <> '{}' RETURNING 1;

-- name: count_shared
-- Memories of projects and of the system that a person said; they are not theirs alone.
SELECT count(*) FROM memory
 WHERE tenant = :tenant AND space NOT IN ('user', 'session') AND replace(provenance, :actor, '') <> provenance
   AND {{reached}};

-- name: some_words
-- Long texts of a person, to look for in the store's files once they are gone.
SELECT text FROM memory
 WHERE tenant = :tenant AND {{on_their_shelves}} AND length(text) >= 12 AND {{reached}} ORDER BY id LIMIT 64;

-- name: also_said
-- Whether anybody who is left says this.
SELECT 1 FROM memory WHERE tenant = :tenant AND replace(text, :words, '') <> text AND {{reached}} LIMIT 1;
