-- Turns of conversations, heard here or imported.

-- name: turns_said
-- What was said to and by a user's agents, in the order of time, a page at a time; what left a window too.
SELECT shelf, {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND identity >= 'turn:' AND identity < 'turn;' AND state IN ('active', 'expired')
   AND (space = 'user' AND owner = :owner OR space = 'session' AND owner >= :first AND owner < :beyond)
   AND (valid_from, shelf, tick) > (:at, :shelf, :tick) AND valid_from < :until AND {{reached}}
 ORDER BY valid_from, shelf, tick LIMIT :limit;
