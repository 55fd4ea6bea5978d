-- Governance: phases, forgetting by ticks, and trust as something a query can ask for.
-- A shelf has a clock of its own: what others write never ages what is on it.

-- The owner of the tables steps over row-level security for this; it is forced again right after.
--@postgres ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
--@postgres ALTER TABLE shelf NO FORCE ROW LEVEL SECURITY;
--@postgres ALTER TABLE counter NO FORCE ROW LEVEL SECURITY;

ALTER TABLE memory ADD COLUMN trust TEXT NOT NULL DEFAULT 'trusted';
ALTER TABLE memory ADD COLUMN expires_tick BIGINT;
ALTER TABLE memory ADD COLUMN retired_tick BIGINT;
CREATE INDEX memory_by_expiry ON memory (tenant, shelf, expires_tick)
 WHERE state = 'active' AND expires_tick IS NOT NULL;

-- The number of the phase a shelf is in, 0 before its first.
ALTER TABLE shelf ADD COLUMN phase BIGINT NOT NULL DEFAULT 0;

CREATE TABLE phase (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  number BIGINT NOT NULL,
  name TEXT,
  reason TEXT NOT NULL,
  started_tick BIGINT NOT NULL,
  started_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, shelf, number)
);

UPDATE memory SET trust = 'untrusted' WHERE provenance LIKE '%"trust":"untrusted"%';
UPDATE memory SET phase = 'phase-1';
UPDATE shelf SET phase = 1;
INSERT INTO phase (tenant, shelf, number, name, reason, started_tick, started_at)
SELECT s.tenant, s.number, 1, NULL, 'auto', 0, coalesce(min(m.created_at), 0)
  FROM shelf s LEFT JOIN memory m ON m.tenant = s.tenant AND m.shelf = s.number
 GROUP BY s.tenant, s.number;
INSERT INTO counter (tenant, name, value)
SELECT tenant, 'tick:' || space || ':' || owner, max(tick) FROM memory GROUP BY tenant, space, owner;
UPDATE memory SET retired_tick = (
  SELECT c.value FROM counter c
   WHERE c.tenant = memory.tenant AND c.name = 'tick:' || memory.space || ':' || memory.owner)
 WHERE state <> 'active';
