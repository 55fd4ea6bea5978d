-- Writers of different people do not wait for each other on PostgreSQL (docs/decisions/0027). Numbers that nobody is told,
-- of shelves, vectors, operations on files and counts, come from a sequence there: a row that counts is a queue.
--@postgres ALTER TABLE counter NO FORCE ROW LEVEL SECURITY;
--@postgres ALTER TABLE operational NO FORCE ROW LEVEL SECURITY;
--@postgres CREATE SEQUENCE shared_number;
--@postgres SELECT setval('shared_number', 1 + greatest(
--@postgres   (SELECT coalesce(max(value), 0) FROM counter WHERE name IN ('shelf', 'vectors', 'operation')),
--@postgres   (SELECT coalesce(max(number), 0) FROM operational)));

-- The newest records of all chains, and of one.
CREATE INDEX audit_by_time ON audit (tenant, at, seq);
