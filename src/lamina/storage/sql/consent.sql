-- What waits for a person's consent, and what became of it.

-- name: guesses_on
-- Every proposal on a shelf, decided or not, the newest first.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND shelf = :shelf AND id LIKE :guesses AND {{reached}}
 ORDER BY created_at DESC, id DESC LIMIT :limit;

-- name: overdue_guesses
-- Proposals that nobody decided in time, on every shelf of the tenant.
SELECT {{memory_columns}} FROM memory
 WHERE tenant = :tenant AND state = 'pending' AND expires_at <= :now AND {{reached}} ORDER BY id LIMIT :limit;
