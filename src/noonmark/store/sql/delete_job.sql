DELETE FROM noonmark.job WHERE shard = $1 AND job_id = $2
