-- What a team of agents needs: changes counted per shelf, counts of what was done.

-- The owner of the tables steps over row-level security for this; it is forced again right after.
--@postgres ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
--@postgres ALTER TABLE change_log NO FORCE ROW LEVEL SECURITY;

-- Each change is counted on its shelf too, so that a cursor of one caller says nothing about another's shelves.
ALTER TABLE change_log ADD COLUMN shelf TEXT NOT NULL DEFAULT '';
ALTER TABLE change_log ADD COLUMN number BIGINT NOT NULL DEFAULT 0;
UPDATE change_log SET shelf = coalesce(
  (SELECT m.space || ':' || m.owner FROM memory m WHERE m.tenant = change_log.tenant AND m.id = change_log.memory_id), '');
UPDATE change_log SET number = counted.number
  FROM (SELECT tenant, thread, revision,
               row_number() OVER (PARTITION BY tenant, shelf ORDER BY at, thread, revision) AS number
          FROM change_log) AS counted
 WHERE change_log.tenant = counted.tenant AND change_log.thread = counted.thread
   AND change_log.revision = counted.revision;
CREATE INDEX change_by_shelf ON change_log (tenant, shelf, number);

-- What was done, for counting (IS-14); never the words of it.
CREATE TABLE operational (
  tenant TEXT NOT NULL,
  number BIGINT NOT NULL,
  at BIGINT NOT NULL,
  user_name TEXT NOT NULL,
  thread TEXT NOT NULL,
  node TEXT NOT NULL,
  op TEXT NOT NULL,
  status TEXT NOT NULL,
  memory_id TEXT,
  category TEXT,
  sim DOUBLE PRECISION,
  PRIMARY KEY (tenant, number)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX operational_by_user ON operational (tenant, user_name, at);
CREATE INDEX operational_by_thread ON operational (tenant, thread, op, number);
