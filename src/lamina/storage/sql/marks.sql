-- What background work remembers of its earlier runs, and what it works on.

-- name: job_marks
-- Since a time, in the order of their subjects.
SELECT subject, at, note FROM job_mark
 WHERE tenant = :tenant AND job = :job AND owner = :owner AND at >= :since ORDER BY subject;

-- name: owners_marked
-- When a job last dealt with a subject of each user.
SELECT owner, at FROM job_mark WHERE tenant = :tenant AND job = :job AND subject = :subject;

-- name: put_job_mark
INSERT INTO job_mark (tenant, job, owner, subject, at, note) VALUES (:tenant, :job, :owner, :subject, :at, :note)
ON CONFLICT (tenant, job, owner, subject) DO UPDATE SET at = excluded.at, note = excluded.note;

-- name: drop_job_marks
DELETE FROM job_mark WHERE tenant = :tenant AND job = :job AND at < :before;

-- name: user_shelves
SELECT name FROM shelf WHERE tenant = :tenant AND name >= 'user:' AND name < 'user;';

-- name: session_users
SELECT DISTINCT user_name FROM session WHERE tenant = :tenant;

-- name: statements_on
-- What is stated on a shelf without a key, a place of its own or a file: all that can say a thing twice. Newest first.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND state = 'active' AND layer = 'semantic' AND key IS NULL AND file IS NULL
   AND trust = 'trusted' AND (expires_at IS NULL OR expires_at > :now) AND identity NOT LIKE 'item:%'
   AND identity NOT LIKE 'heard:%' AND identity NOT LIKE 'summary:%' AND identity NOT LIKE 'turn:%' AND {{reached}}
 ORDER BY updated_at DESC, id LIMIT :limit;
