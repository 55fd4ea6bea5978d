-- Which conversation each text of a shelf was said in, and by whom: a turn is found through its neighbours too.
CREATE TABLE conversation (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  name TEXT NOT NULL,
  number BIGINT NOT NULL,
  PRIMARY KEY (tenant, shelf, name)
)
--@sqlite WITHOUT ROWID
;

-- Places in conversations, 256 slots to a block: slot within block (1 byte), voice (1), length (2), conversation (4).
CREATE TABLE placement (
  tenant TEXT NOT NULL,
  shelf BIGINT NOT NULL,
  block BIGINT NOT NULL,
  data BLOB NOT NULL,
  PRIMARY KEY (tenant, shelf, block)
)
--@sqlite WITHOUT ROWID
;

-- The place of a text that is not yet spread over the blocks; none where it was said in no conversation.
ALTER TABLE fresh ADD COLUMN place BLOB;
