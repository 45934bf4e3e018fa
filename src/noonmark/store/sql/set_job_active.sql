UPDATE noonmark.job
SET active = $3, updated_at = $4, planned_from = CASE WHEN $3 THEN $4 ELSE planned_from END
WHERE shard = $1 AND job_id = $2
