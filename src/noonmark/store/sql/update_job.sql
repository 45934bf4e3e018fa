UPDATE noonmark.job
SET version = $3, policy_id = $4, schedule_id = $5, jitter_ms = $6, priority = $7, catch_up = $8, input = $9::text::json,
    updated_at = $10, planned_from = $11, ends_at = $12, runs_left = $13, catch_up_s = $14, delay_ms = $15, link_at = $16,
    labels = $17::text[]
WHERE shard = $1 AND job_id = $2
