-- A run that waits out its backoff is due at $5 at the latest.
UPDATE noonmark.run r
SET due_at = LEAST(r.due_at, $5), sleeps = false
WHERE r.shard = $1 AND r.job_id = $2 AND r.nominal_at = $3 AND r.tenant_id = $4 AND r.attempt > 0 AND NOT r.parked
RETURNING r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    noonmark.input_in_memory(r.input) AS input, r.sleeps
