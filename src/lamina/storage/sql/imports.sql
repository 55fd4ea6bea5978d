-- Turns of conversations, heard here or imported.

-- name: turns_said
-- What was said to and by a user's agents, in the order of time, a page at a time; what left a window too.
SELECT shelf, {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND identity >= 'turn:' AND identity < 'turn;' AND state IN ('active', 'expired')
   AND (space = 'user' AND owner = :owner OR space = 'session' AND owner >= :first AND owner < :beyond)
   AND (valid_from, shelf, tick) > (:at, :shelf, :tick) AND valid_from < :until AND {{reached}}
 ORDER BY valid_from, shelf, tick LIMIT :limit;

-- name: import_position
SELECT mark, size, place FROM import_position WHERE tenant = :tenant AND user_name = :user AND path = :path;

-- name: put_import_position
INSERT INTO import_position (tenant, user_name, path, mark, size, place, at)
VALUES (:tenant, :user, :path, :mark, :size, :place, :at)
ON CONFLICT (tenant, user_name, path) DO UPDATE
   SET mark = excluded.mark, size = excluded.size, place = excluded.place, at = excluded.at;

-- name: import_entry
SELECT 1 FROM import_entry WHERE tenant = :tenant AND user_name = :user AND key = :key;

-- name: add_import_entry
INSERT INTO import_entry (tenant, user_name, key) VALUES (:tenant, :user, :key) ON CONFLICT DO NOTHING;
