-- A seal over the whole story (docs/decisions/0024). What is in these tables is bound to the audit's key: a seal for each
-- memory and each step names the row that was changed, and a sealed sum for each lane (a person, a project, the
-- system, the store itself) tells whether anything was changed, deleted, inserted, moved or put back.
ALTER TABLE memory ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE history ADD COLUMN seal TEXT NOT NULL DEFAULT '';

-- For each lane how many rows each sealed table has of it, and the sum of what the key makes of them; unreadable
-- without the key.
CREATE TABLE lane (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (tenant, name)
)
--@sqlite WITHOUT ROWID
;

-- What the audit and the trace have of one person, without a walk over everybody's.
CREATE INDEX audit_by_memory ON audit (tenant, memory_id, seq) WHERE memory_id IS NOT NULL;
CREATE INDEX audit_by_scope ON audit (tenant, scope, seq) WHERE memory_id IS NULL;
CREATE INDEX event_by_shelf ON event (tenant, shelf, seq);
