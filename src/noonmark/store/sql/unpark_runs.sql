-- They wait again; those beyond the watermark sleep.
UPDATE noonmark.run r
SET parked = false, sleeps = r.due_at > $3
WHERE r.shard = $1 AND r.job_id = $2 AND r.parked
