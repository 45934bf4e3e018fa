-- Waiting runs of a paused job sleep until it is resumed.
UPDATE noonmark.run r
SET parked = true
WHERE r.shard = $1 AND r.job_id = $2 AND NOT r.nominal_at = ANY ($3::timestamptz[])
