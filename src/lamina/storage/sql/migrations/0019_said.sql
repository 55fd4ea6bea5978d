-- What was said in a stretch of time, for questions that name one, without a walk over everything else.
CREATE INDEX memory_said ON memory (tenant, shelf, (CASE WHEN valid_from < created_at THEN valid_from
  ELSE created_at END), slot) WHERE state = 'active';
CREATE INDEX passage_dated ON passage (tenant, shelf, dated_at, slot) WHERE dated_at IS NOT NULL;
