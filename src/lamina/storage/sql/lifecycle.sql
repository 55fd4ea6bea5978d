-- How a memory ends: put aside unused, and purged.

-- name: unused_memories
-- What matters little and nobody has found or changed for long, the longest unused first; turns have their own window.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND state = 'active' AND importance < :below AND pinned = 0 AND updated_at < :before
   AND coalesce(last_accessed_at, created_at) < :before AND (file IS NULL OR file LIKE :learnt)
   AND identity NOT LIKE 'turn:%' AND identity NOT LIKE 'summary:%'
 ORDER BY coalesce(last_accessed_at, created_at), id LIMIT :limit;
