-- LangGraph's state: what a graph can be resumed from. A thread belongs to one user of one tenant.

-- One state of a graph. `channels` names every channel that has a value, with the version of the value's blob;
-- the version is null where the value is so small that it is part of the body.
CREATE TABLE checkpoint (
  tenant TEXT NOT NULL,
  user_name TEXT NOT NULL,
  thread TEXT NOT NULL,
  ns TEXT NOT NULL,
  id TEXT NOT NULL,
  parent TEXT,
  run TEXT,
  channels TEXT NOT NULL,
  type TEXT NOT NULL,
  body BLOB NOT NULL,
  metadata TEXT NOT NULL,
  PRIMARY KEY (tenant, user_name, thread, ns, id)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX checkpoint_by_run ON checkpoint (tenant, user_name, run) WHERE run IS NOT NULL;

-- The value of a channel at one of its versions, shared by all checkpoints that have it.
CREATE TABLE checkpoint_blob (
  tenant TEXT NOT NULL,
  user_name TEXT NOT NULL,
  thread TEXT NOT NULL,
  ns TEXT NOT NULL,
  channel TEXT NOT NULL,
  version TEXT NOT NULL,
  type TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (tenant, user_name, thread, ns, channel, version)
);

-- What tasks wrote on top of a checkpoint, before the next one is made.
CREATE TABLE checkpoint_write (
  tenant TEXT NOT NULL,
  user_name TEXT NOT NULL,
  thread TEXT NOT NULL,
  ns TEXT NOT NULL,
  checkpoint TEXT NOT NULL,
  task TEXT NOT NULL,
  idx BIGINT NOT NULL,
  path TEXT NOT NULL,
  channel TEXT NOT NULL,
  type TEXT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (tenant, user_name, thread, ns, checkpoint, task, idx)
);
-- Compressing a state costs more than the disk it saves.
--@postgres ALTER TABLE checkpoint ALTER COLUMN body SET STORAGE EXTERNAL;
--@postgres ALTER TABLE checkpoint_blob ALTER COLUMN data SET STORAGE EXTERNAL;
--@postgres ALTER TABLE checkpoint_write ALTER COLUMN data SET STORAGE EXTERNAL;

-- The newest state of each thread in short, for people and dashboards (IS-15); graphs read the tables above.
CREATE TABLE supervisor_checkpoints (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  user_id TEXT NOT NULL,
  thread_id TEXT NOT NULL,
  checkpoint_id TEXT NOT NULL,
  checkpoint_data TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, user_id, thread_id)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX supervisor_checkpoints_by_time ON supervisor_checkpoints (tenant, updated_at DESC);
