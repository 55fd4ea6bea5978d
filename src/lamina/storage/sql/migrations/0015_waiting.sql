-- What waits for its person's word on a shelf, without a walk over everything else there.
CREATE INDEX memory_waiting ON memory (tenant, shelf, created_at, id) WHERE state = 'pending';
