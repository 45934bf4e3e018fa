-- One run that sleeps, is parked or was spilled, by its key.
DELETE FROM noonmark.run r
WHERE r.shard = $1 AND r.job_id = $2 AND r.nominal_at = $3 AND r.tenant_id = $4
RETURNING r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    NULL::text AS input, r.sleeps
