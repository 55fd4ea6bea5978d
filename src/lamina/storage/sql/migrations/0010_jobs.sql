-- What runs by itself: one row for each time a job was due, whatever became of it.
-- `slot_at` is the time it was due, `until_at` the end of the stretch that the run took care of.
CREATE TABLE job_run (
  tenant TEXT NOT NULL,
  job TEXT NOT NULL,
  slot_at BIGINT NOT NULL,
  until_at BIGINT NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('seen', 'running', 'done', 'failed', 'dead', 'settled')),
  attempts BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  ended_at BIGINT,
  next_at BIGINT,
  code TEXT NOT NULL,
  report TEXT NOT NULL,
  PRIMARY KEY (tenant, job, slot_at)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX job_run_by_state ON job_run (tenant, state, job, slot_at);
