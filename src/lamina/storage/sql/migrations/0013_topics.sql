-- Where the memories of a category stand in their shelf's index, so that a rare one is not looked for among all.
CREATE INDEX memory_topics ON memory (tenant, shelf, (coalesce(category, CASE layer WHEN 'working' THEN 'activity'
  WHEN 'episodic' THEN 'event' WHEN 'procedural' THEN 'procedural' WHEN 'user_model' THEN 'profile'
  ELSE 'uncategorised' END)), slot) WHERE state = 'active';
