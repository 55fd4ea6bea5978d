-- Imports: how far each file of another tool was read, and which of its entries are known.

-- `mark` names the file and how it was asked to be read: its inode, the hash of its head, the options.
-- `size` is that of a file that was read to its end, -1 before.
CREATE TABLE import_position (
  tenant TEXT NOT NULL,
  user_name TEXT NOT NULL,
  path TEXT NOT NULL,
  mark TEXT NOT NULL,
  size BIGINT NOT NULL,
  place TEXT NOT NULL,
  at BIGINT NOT NULL,
  PRIMARY KEY (tenant, user_name, path)
);

-- An entry that came in once does not come in again, wherever it is found and whatever became of it.
CREATE TABLE import_entry (
  tenant TEXT NOT NULL,
  user_name TEXT NOT NULL,
  key TEXT NOT NULL,
  PRIMARY KEY (tenant, user_name, key)
)
--@sqlite WITHOUT ROWID
;

-- Turns in the order of time, for the jobs that read what was said in a day.
CREATE INDEX memory_turns ON memory (tenant, valid_from, shelf, tick) WHERE identity >= 'turn:' AND identity < 'turn;';
