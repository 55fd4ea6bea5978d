-- Search by meaning: a vector for each text of a shelf, eight bits a number. Derived, and made anew by `rebuild`.
-- Vectors stand beside the id of the encoder that made them; those of two encoders are never compared.

-- How many texts of a shelf have a vector, and when its blocks last changed: what a process keeps in memory is
-- compared with this before it is used. Versions come from one counter and are never given twice.
CREATE TABLE vector_shelf (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  embedder TEXT NOT NULL,
  dimension BIGINT NOT NULL,
  members BIGINT NOT NULL,
  version BIGINT NOT NULL,
  since BIGINT NOT NULL,
  PRIMARY KEY (tenant, shelf, embedder)
)
--@sqlite WITHOUT ROWID
;

-- 256 slots to a block, as in the posting lists: slot within block (1 byte), then the vector.
CREATE TABLE vector_block (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  embedder TEXT NOT NULL,
  block BIGINT NOT NULL,
  version BIGINT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (tenant, shelf, embedder, block)
);
CREATE INDEX vector_block_by_version ON vector_block (tenant, shelf, embedder, version);
--@postgres ALTER TABLE vector_block ALTER COLUMN data SET STORAGE EXTERNAL;

-- The newest vectors of each shelf, not yet in their block: a write touches a small row, not a block of 48 KB.
CREATE TABLE vector_fresh (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  embedder TEXT NOT NULL,
  slot BIGINT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (tenant, shelf, embedder, slot)
)
--@sqlite WITHOUT ROWID
;
