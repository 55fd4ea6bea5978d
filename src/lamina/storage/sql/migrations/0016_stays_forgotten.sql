-- What a person said no to, as keyed marks and never as words; what agents were shown that nobody vouches
-- for; and what was answered to whom.

CREATE TABLE refusal (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  number BIGINT NOT NULL,
  cause TEXT NOT NULL,
  shelf TEXT NOT NULL,
  actor TEXT NOT NULL,
  at BIGINT NOT NULL,
  source TEXT NOT NULL,
  asked_at BIGINT,
  tries BIGINT NOT NULL DEFAULT 0,
  tried_by TEXT NOT NULL DEFAULT '',
  lifted_by TEXT,
  lifted_at BIGINT,
  PRIMARY KEY (tenant, owner, number)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX refusal_source ON refusal (tenant, owner, source);

CREATE TABLE refusal_mark (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  mark TEXT NOT NULL,
  number BIGINT NOT NULL,
  part BIGINT NOT NULL,
  telling TEXT NOT NULL DEFAULT '',
  PRIMARY KEY (tenant, owner, mark, number, part)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX refusal_mark_number ON refusal_mark (tenant, owner, number);

CREATE TABLE exposure (
  tenant TEXT NOT NULL,
  owner TEXT NOT NULL,
  source TEXT NOT NULL,
  at BIGINT NOT NULL,
  thread TEXT NOT NULL,
  terms BLOB NOT NULL,
  wording TEXT NOT NULL,
  PRIMARY KEY (tenant, owner, source, wording)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX exposure_at ON exposure (tenant, owner, at);

CREATE TABLE answer (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  owner TEXT NOT NULL,
  at BIGINT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX answer_at ON answer (tenant, owner, at);

-- A no to a guess was a property before; it is one of these now.
INSERT INTO refusal (tenant, owner, number, cause, shelf, actor, at, source)
SELECT tenant, owner, row_number() OVER (PARTITION BY tenant, owner ORDER BY mark), 'rejected', 'user:' || owner, '', 0, ''
  FROM (
    SELECT tenant,
--@sqlite      substr(name, 4, instr(substr(name, 4), ':') - 1) AS owner,
--@postgres      split_part(name, ':', 2) AS owner,
           name AS mark
      FROM property WHERE name LIKE 'no:%:%'
  ) AS old;
INSERT INTO refusal_mark (tenant, owner, mark, number, part)
SELECT tenant, owner, mark, row_number() OVER (PARTITION BY tenant, owner ORDER BY name), 0
  FROM (
    SELECT tenant, name,
--@sqlite      substr(name, 4, instr(substr(name, 4), ':') - 1) AS owner,
--@sqlite      'f' || substr(name, 4 + instr(substr(name, 4), ':')) AS mark
--@postgres      split_part(name, ':', 2) AS owner,
--@postgres      'f' || split_part(name, ':', 3) AS mark
      FROM property WHERE name LIKE 'no:%:%'
  ) AS old;
INSERT INTO counter (tenant, name, value)
SELECT tenant, 'refusal:' || owner, count(*) FROM refusal GROUP BY tenant, owner;
DELETE FROM property WHERE name LIKE 'no:%:%';
