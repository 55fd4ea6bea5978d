-- What a job must know of its earlier runs: pairs it has judged, people it has asked about, what a day has cost.
-- `owner` is the user it is about, '' for the tenant; it holds no words of anybody's memory.
CREATE TABLE job_mark (
  tenant TEXT NOT NULL,
  job TEXT NOT NULL,
  owner TEXT NOT NULL,
  subject TEXT NOT NULL,
  at BIGINT NOT NULL,
  note TEXT NOT NULL,
  PRIMARY KEY (tenant, job, owner, subject)
)
--@sqlite WITHOUT ROWID
;
