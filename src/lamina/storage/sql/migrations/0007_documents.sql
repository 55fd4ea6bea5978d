-- Documents: how deep a search has to look to find a file, which of its passages were ever numbered, whether
-- the file is gone while nobody has agreed to that, and which of its lines hold what is never indexed.
ALTER TABLE document ADD COLUMN depth BIGINT NOT NULL DEFAULT 1;
ALTER TABLE document ADD COLUMN next_number BIGINT NOT NULL DEFAULT 1;
ALTER TABLE document ADD COLUMN gone BIGINT NOT NULL DEFAULT 0;
ALTER TABLE document ADD COLUMN hidden TEXT NOT NULL DEFAULT '[]';
ALTER TABLE passage ADD COLUMN key TEXT;
ALTER TABLE passage ADD COLUMN dated_at BIGINT;
CREATE INDEX passage_by_key ON passage (tenant, shelf, key);
