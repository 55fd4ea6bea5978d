-- The newest episodes of a shelf and the procedures on it, without a walk over everything else there.
CREATE INDEX memory_episodes ON memory (tenant, shelf, tick)
 WHERE layer = 'episodic' AND kind = 'episode' AND state = 'active';
CREATE INDEX memory_procedures ON memory (tenant, shelf, tick) WHERE layer = 'procedural' AND state = 'active';
