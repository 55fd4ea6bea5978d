-- What was answered to whom.

-- name: add_answer
INSERT INTO answer (tenant, id, owner, at, data) VALUES (:tenant, :id, :owner, :at, :data)
ON CONFLICT (tenant, id) DO NOTHING;

-- name: answer_by_id
SELECT id, at, data FROM answer WHERE tenant = :tenant AND id = :id AND owner = :owner;

-- name: answers_naming
SELECT id, at, data FROM answer
 WHERE tenant = :tenant AND owner = :owner AND replace(data, :named, '') <> data ORDER BY at DESC, id LIMIT :limit;

-- name: any_answers
SELECT 1 FROM answer WHERE tenant = :tenant AND at < :before LIMIT 1;

-- name: drop_answers
DELETE FROM answer WHERE tenant = :tenant AND at < :before;

-- name: purge_answers
-- A question may repeat the words of what it found.
DELETE FROM answer WHERE tenant = :tenant AND replace(data, :named, '') <> data;
