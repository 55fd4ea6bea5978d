-- What the five layers ask: recent episodes, procedures, use, and what was known at another time.

-- name: episodes_on
-- The newest episodes of a shelf first.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND layer = 'episodic' AND kind = 'episode' AND state = 'active' AND trust = 'trusted'
   AND (expires_at IS NULL OR expires_at > :now) AND {{reached}} ORDER BY tick DESC LIMIT :limit;

-- name: procedures_on
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND layer = 'procedural' AND state = 'active' AND trust = 'trusted'
   AND (expires_at IS NULL OR expires_at > :now) AND {{reached}} ORDER BY tick DESC LIMIT :limit;

-- name: procedure_slots
-- Where the procedures of a shelf stand in its index: few places among many.
SELECT slot FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND layer = 'procedural' AND state = 'active' AND {{reached}}
 ORDER BY tick LIMIT :limit;

-- name: episodes_over
-- Episodes of anybody whose time is up, oldest first.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND layer = 'episodic' AND kind = 'episode' AND state = 'active' AND expires_at <= :now
 ORDER BY expires_at, id LIMIT :limit;

-- name: note_access
-- A memory was found: counted without a new revision, because nothing about it was said anew.
UPDATE memory SET access_count = access_count + :count,
  last_accessed_at = CASE WHEN last_accessed_at > :at THEN last_accessed_at ELSE :at END
 WHERE tenant = :tenant AND id = :id AND state = 'active';

-- name: known_at
-- What a shelf held at a moment, in the words it had then: the last step until then left words behind. A guess
-- that waits holds since never.
SELECT h.new_text, {{memory_columns_m}} FROM memory m
  JOIN history h ON h.tenant = m.tenant AND h.memory_id = m.id
   AND h.number = (SELECT max(l.number) FROM history l
                    WHERE l.tenant = m.tenant AND l.memory_id = m.id AND l.at <= :at)
 WHERE m.tenant = :tenant AND m.shelf = :shelf AND h.new_text IS NOT NULL AND m.created_at <= :at
   AND m.valid_from <= :at AND (m.valid_until IS NULL OR m.valid_until > :at)
   AND (m.expires_at IS NULL OR m.expires_at > :at OR m.layer = 'episodic') AND {{reached}}
 ORDER BY m.id;

-- name: change_at
SELECT at FROM change_log WHERE tenant = :tenant AND thread = :thread AND revision = :revision;

-- fragment: memory_columns_m
m.id, m.space, m.owner, m.layer, m.kind, m.text, m.key, m.category, m.tags, m.authority, m.importance, m.priority,
m.confidence, m.pinned, m.state, m.revision, m.tick, m.phase, m.ttl, m.created_at, m.updated_at, m.valid_from,
m.valid_until, m.expires_at, m.purge_at, m.last_accessed_at, m.access_count, m.supersedes, m.superseded_by,
m.file, m.provenance, m.meta, m.expires_tick, m.retired_tick

-- fragment: memory_columns_z
z.id, z.space, z.owner, z.layer, z.kind, z.text, z.key, z.category, z.tags, z.authority, z.importance, z.priority,
z.confidence, z.pinned, z.state, z.revision, z.tick, z.phase, z.ttl, z.created_at, z.updated_at, z.valid_from,
z.valid_until, z.expires_at, z.purge_at, z.last_accessed_at, z.access_count, z.supersedes, z.superseded_by,
z.file, z.provenance, z.meta, z.expires_tick, z.retired_tick

-- name: operations_of
SELECT id, target, payload FROM operation WHERE tenant = :tenant AND kind = :kind ORDER BY id;
