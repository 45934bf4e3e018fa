UPDATE noonmark.job
SET active = $3, updated_at = $4, planned_from = $5, ends_at = $6, runs_left = $7, link_at = $8
WHERE shard = $1 AND job_id = $2
