-- Runs of jobs.

-- fragment: job_columns
job, slot_at, until_at, state, attempts, started_at, ended_at, next_at, code, report

-- name: job_run_at
-- What became of a job at the time it was due.
SELECT {{job_columns}} FROM job_run WHERE tenant = :tenant AND job = :job AND slot_at = :slot_at;

-- name: newest_job_runs
-- The newest row of each job; one that is still to come was written by a clock that stood ahead.
SELECT {{job_columns}} FROM job_run r WHERE tenant = :tenant
   AND slot_at = (SELECT max(slot_at) FROM job_run n WHERE n.tenant = :tenant AND n.job = r.job AND n.slot_at <= :now)
 ORDER BY job;

-- name: covered_until
-- The end of what successful runs have taken care of; a job that was never run counts from when it was first seen.
SELECT max(until_at) FROM job_run WHERE tenant = :tenant AND job = :job AND state IN ('done', 'seen');

-- name: put_job_run
INSERT INTO job_run (tenant, {{job_columns}})
VALUES (:tenant, :job, :slot_at, :until_at, :state, :attempts, :started_at, :ended_at, :next_at, :code, :report)
ON CONFLICT (tenant, job, slot_at) DO UPDATE SET until_at = excluded.until_at, state = excluded.state,
  attempts = excluded.attempts, started_at = excluded.started_at, ended_at = excluded.ended_at,
  next_at = excluded.next_at, code = excluded.code, report = excluded.report;

-- name: settle_job_runs
-- A run that succeeds takes care of everything since the last success, so earlier failures are over.
UPDATE job_run SET state = 'settled', next_at = NULL
 WHERE tenant = :tenant AND job = :job AND slot_at < :slot_at AND state IN ('running', 'failed', 'dead');

-- name: drop_old_job_runs
-- The newest hundred of a job stay.
DELETE FROM job_run WHERE tenant = :tenant AND job = :job AND slot_at <
  (SELECT slot_at FROM job_run WHERE tenant = :tenant AND job = :job ORDER BY slot_at DESC LIMIT 1 OFFSET 99);

-- name: dead_jobs
-- The dead letters: runs that were tried often enough. There is no job `decay` any more, so nothing settles its own.
SELECT {{job_columns}} FROM job_run WHERE tenant = :tenant AND state = 'dead' AND job <> 'decay' ORDER BY job, slot_at;
