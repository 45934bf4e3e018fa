UPDATE noonmark.job
SET version = $3, policy_id = $4, schedule_id = $5, jitter_ms = $6, priority = $7, catch_up = $8, input = $9::text::json,
    planned_from = $10, updated_at = $10
WHERE shard = $1 AND job_id = $2
