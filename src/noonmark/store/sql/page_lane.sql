-- The next waiting runs of one tenant, kind (its policies) and priority in a shard.
SELECT r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    noonmark.input_in_memory(r.input) AS input, r.sleeps
FROM noonmark.run r
WHERE r.shard = $1 AND (r.nominal_at, r.job_id) >= ($2, $3) AND r.nominal_at <= $4 AND r.due_at <= $4 AND NOT r.parked
    AND r.tenant_id = $6 AND r.policy_id = ANY ($7::integer[]) AND r.priority = $8
ORDER BY r.nominal_at, r.job_id
LIMIT $5
