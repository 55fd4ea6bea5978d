-- The tables of one memory. Tenant leads every key, so the schema distributes by hash as it stands.
-- Times are UTC microseconds, booleans 0 or 1, JSON is canonical text: both databases hold the same values.
-- A line behind `--@sqlite` or `--@postgres` belongs to that database only.

-- What a store knows about itself: its id, the analyser its index was made with.
CREATE TABLE property (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (tenant, name)
);

-- Sequences that survive restarts: the tick, the numbers inside ids, the ends of the logs.
CREATE TABLE counter (
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  value BIGINT NOT NULL,
  PRIMARY KEY (tenant, name)
)
--@sqlite WITHOUT ROWID
;

-- A shelf holds the memories of one space and owner, and the statistics its searches rank by.
CREATE TABLE shelf (
  tenant TEXT NOT NULL,
  number BIGINT NOT NULL,
  name TEXT NOT NULL,
  next_slot BIGINT NOT NULL,
  members BIGINT NOT NULL,
  length BIGINT NOT NULL,
  PRIMARY KEY (tenant, number),
  UNIQUE (tenant, name)
);

CREATE TABLE memory (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  slot BIGINT,
  identity TEXT NOT NULL,
  space TEXT NOT NULL,
  owner TEXT NOT NULL,
  layer TEXT NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL,
  key TEXT,
  category TEXT,
  tags TEXT NOT NULL,
  authority TEXT NOT NULL,
  importance BIGINT NOT NULL,
  priority BIGINT NOT NULL,
  confidence DOUBLE PRECISION NOT NULL,
  pinned BIGINT NOT NULL,
  state TEXT NOT NULL,
  revision BIGINT NOT NULL,
  tick BIGINT NOT NULL,
  phase TEXT,
  ttl TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL,
  valid_from BIGINT,
  valid_until BIGINT,
  expires_at BIGINT,
  purge_at BIGINT,
  last_accessed_at BIGINT,
  access_count BIGINT NOT NULL,
  decay_score DOUBLE PRECISION NOT NULL,
  supersedes TEXT,
  superseded_by TEXT,
  file TEXT,
  provenance TEXT NOT NULL,
  meta TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
);
CREATE INDEX memory_by_slot ON memory (tenant, shelf, slot);
-- One active memory per key, or per wording where there is no key: two writers cannot both win.
CREATE UNIQUE INDEX memory_by_identity ON memory (tenant, shelf, identity) WHERE state = 'active';

-- Posting lists, 256 slots to a block: slot within block (1 byte), frequency (1), length of the text (2).
CREATE TABLE posting (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  term TEXT NOT NULL,
  block BIGINT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (tenant, shelf, term, block)
)
--@sqlite WITHOUT ROWID
;

-- The newest texts of each shelf, not yet spread over the posting lists: writing one touches one page, not one
-- for each of its words. Every 32nd text moves them over.
CREATE TABLE fresh (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  slot BIGINT NOT NULL,
  length BIGINT NOT NULL,
  terms TEXT NOT NULL,
  PRIMARY KEY (tenant, shelf, slot)
)
--@sqlite WITHOUT ROWID
;

CREATE TABLE history (
  tenant TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  number BIGINT NOT NULL,
  revision BIGINT NOT NULL,
  op TEXT NOT NULL,
  at BIGINT NOT NULL,
  actor TEXT NOT NULL,
  via TEXT NOT NULL,
  old_text TEXT,
  new_text TEXT,
  decision TEXT NOT NULL,
  PRIMARY KEY (tenant, memory_id, number)
)
--@sqlite WITHOUT ROWID
;

-- What changed, numbered per thread; the newest number is the thread's revision, so the last row always stays.
CREATE TABLE change_log (
  tenant TEXT NOT NULL,
  thread TEXT NOT NULL,
  revision BIGINT NOT NULL,
  at BIGINT NOT NULL,
  event TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  PRIMARY KEY (tenant, thread, revision)
)
--@sqlite WITHOUT ROWID
;

-- The proof: values appear only as keyed hashes, so erasing them does not break the chain.
CREATE TABLE audit (
  tenant TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  op TEXT NOT NULL,
  scope TEXT NOT NULL,
  key TEXT,
  memory_id TEXT,
  number BIGINT,
  actor TEXT NOT NULL,
  via TEXT NOT NULL,
  run_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  old_hash TEXT,
  new_hash TEXT,
  key_id TEXT NOT NULL,
  prev TEXT NOT NULL,
  hash TEXT NOT NULL,
  PRIMARY KEY (tenant, seq)
)
--@sqlite WITHOUT ROWID
;
--@sqlite CREATE TRIGGER audit_never_changes BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;
--@sqlite CREATE TRIGGER audit_never_shrinks BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'audit is append-only'); END;

CREATE TABLE event (
  tenant TEXT NOT NULL,
  seq BIGINT NOT NULL,
  at BIGINT NOT NULL,
  type TEXT NOT NULL,
  shelf TEXT NOT NULL,
  data TEXT NOT NULL,
  PRIMARY KEY (tenant, seq)
)
--@sqlite WITHOUT ROWID
;

-- The outbox: what must still happen to a file. A crash anywhere is finished by replaying the pending ones.
CREATE TABLE operation (
  tenant TEXT NOT NULL,
  id BIGINT NOT NULL,
  at BIGINT NOT NULL,
  kind TEXT NOT NULL,
  target TEXT NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (tenant, id)
);

CREATE TABLE idempotency (
  tenant TEXT NOT NULL,
  caller TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  response TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (tenant, caller, key)
);
CREATE INDEX idempotency_by_age ON idempotency (tenant, at);

CREATE TABLE token (
  tenant TEXT NOT NULL,
  id TEXT NOT NULL,
  hash TEXT NOT NULL,
  label TEXT NOT NULL,
  user_name TEXT NOT NULL,
  agent TEXT,
  role TEXT NOT NULL,
  scopes TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  expires_at BIGINT,
  revoked_at BIGINT,
  PRIMARY KEY (tenant, id)
);

-- Keyed entries as last seen in their file: the base against which a person's edit is told from ours.
CREATE TABLE entry (
  tenant TEXT NOT NULL,
  file TEXT NOT NULL,
  key TEXT NOT NULL,
  memory_id TEXT NOT NULL,
  value TEXT NOT NULL,
  fields TEXT NOT NULL,
  PRIMARY KEY (tenant, file, key)
);

-- Markdown files and their searchable pieces; derived, and made anew from the files.
CREATE TABLE document (
  tenant TEXT NOT NULL,
  path TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  stamp TEXT NOT NULL,
  hash TEXT NOT NULL,
  title TEXT,
  tier TEXT,
  dated_at BIGINT,
  indexed_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, path)
);
CREATE TABLE passage (
  tenant TEXT NOT NULL,
  path TEXT NOT NULL,
  number BIGINT NOT NULL,
  shelf BIGINT NOT NULL,
  slot BIGINT,
  start_line BIGINT NOT NULL,
  end_line BIGINT NOT NULL,
  heading TEXT,
  text TEXT NOT NULL,
  status TEXT,
  PRIMARY KEY (tenant, path, number)
);
CREATE INDEX passage_by_slot ON passage (tenant, shelf, slot);
