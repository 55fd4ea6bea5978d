-- Which memories are about the same thing: found when one is written, or said by somebody.

CREATE TABLE relation (
  tenant TEXT NOT NULL,
  from_id TEXT NOT NULL,
  to_id TEXT NOT NULL,
  type TEXT NOT NULL DEFAULT 'related_to',
  strength DOUBLE PRECISION NOT NULL,
  explicit BIGINT NOT NULL DEFAULT 0,
  created_at BIGINT NOT NULL,
  PRIMARY KEY (tenant, from_id, to_id, type)
)
--@sqlite WITHOUT ROWID
;
CREATE INDEX relation_to ON relation (tenant, to_id, from_id);

-- Whether a memory of a shelf was ever linked: where none was, no reading looks for relations.
ALTER TABLE shelf ADD COLUMN linked BIGINT NOT NULL DEFAULT 0;
