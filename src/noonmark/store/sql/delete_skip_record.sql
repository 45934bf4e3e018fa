-- History forgets that an occurrence was skipped: it will fire after all. $4 is the reason.
DELETE FROM noonmark.attempt a
WHERE a.shard = $1 AND a.job_id = $2 AND a.nominal_at = $3 AND a.attempt = 0 AND a.reason = $4
