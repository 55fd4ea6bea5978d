-- What a person said no to.

-- name: guards
-- The newest no, whether something was lately shown, and the version of that.
SELECT (SELECT {{refusal_name}} FROM refusal WHERE tenant = :tenant AND owner = :owner ORDER BY number DESC LIMIT 1),
  (SELECT 1 FROM exposure WHERE tenant = :tenant AND owner = :owner AND at >= :since LIMIT 1),
  (SELECT value FROM property WHERE tenant = :tenant AND name = :shown);

-- name: add_refusal
INSERT INTO refusal (tenant, owner, number, cause, shelf, actor, at, source)
VALUES (:tenant, :owner, :number, :cause, :shelf, :actor, :at, :source);

-- name: add_refusal_mark
INSERT INTO refusal_mark (tenant, owner, mark, number, part, telling)
VALUES (:tenant, :owner, :mark, :number, :part, :telling);

-- name: refusal_of
SELECT {{refusal_columns}} FROM refusal WHERE tenant = :tenant AND owner = :owner AND number = :number;

-- fragment: refusal_name
number || ' ' || at

-- name: refusal_named
SELECT {{refusal_name}} FROM refusal WHERE tenant = :tenant AND owner = :owner AND number = :number;

-- name: refusal_marks_after
SELECT mark FROM refusal_mark WHERE tenant = :tenant AND owner = :owner AND number > :number;

-- name: refusals
-- The newest first.
SELECT {{refusal_columns}} FROM refusal
 WHERE tenant = :tenant AND owner = :owner AND (lifted_at IS NULL OR :lifted = 1) ORDER BY number DESC LIMIT :limit;

-- name: refusals_tried
-- Those that stand and that somebody tried to bring back.
SELECT {{refusal_columns}} FROM refusal
 WHERE tenant = :tenant AND owner = :owner AND lifted_at IS NULL AND tries > 0 ORDER BY number DESC LIMIT :limit;

-- name: refusals_about
-- Those that stand and were made with a memory.
SELECT number FROM refusal
 WHERE tenant = :tenant AND owner = :owner AND source = :source AND lifted_at IS NULL ORDER BY number;

-- name: lift_refusal
UPDATE refusal SET lifted_by = :actor, lifted_at = :at
 WHERE tenant = :tenant AND owner = :owner AND number = :number AND lifted_at IS NULL
RETURNING {{sealed_refusal_columns}};

-- name: ask_refusal
UPDATE refusal SET asked_at = :at WHERE tenant = :tenant AND owner = :owner AND number = :number;

-- name: try_refusal
UPDATE refusal SET tries = tries + 1, tried_by = :actor
 WHERE tenant = :tenant AND owner = :owner AND number = :number;

-- fragment: refusal_columns
number, cause, shelf, actor, at, source, asked_at, lifted_by, lifted_at, tries, tried_by

-- name: seen_exposures
SELECT source, wording, terms, at FROM exposure
 WHERE tenant = :tenant AND owner = :owner AND at >= :since
   ORDER BY at DESC, source DESC, wording DESC LIMIT :limit;

-- name: put_exposure
-- What was shown stays shown when its source says something else now.
INSERT INTO exposure (tenant, owner, source, at, thread, terms, wording)
VALUES (:tenant, :owner, :source, :at, :thread, :terms, :wording)
ON CONFLICT (tenant, owner, source, wording) DO UPDATE SET at = excluded.at, thread = excluded.thread;

-- name: drop_exposures
DELETE FROM exposure WHERE tenant = :tenant AND owner = :owner AND at < :before;

-- name: drop_exposure
DELETE FROM exposure WHERE tenant = :tenant AND source = :source RETURNING owner;
