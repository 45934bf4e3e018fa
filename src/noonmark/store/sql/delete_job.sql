WITH skips AS (DELETE FROM noonmark.job_skip WHERE shard = $1 AND job_id = $2)
DELETE FROM noonmark.job WHERE shard = $1 AND job_id = $2
