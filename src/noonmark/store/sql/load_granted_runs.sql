-- The rows of the runs that a shard's grants name, as far as they have not ended.
SELECT r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    CASE WHEN octet_length(r.input::text) > 1024 THEN '' ELSE r.input::text END AS input, r.sleeps
FROM noonmark.grant g
CROSS JOIN LATERAL unnest(g.job_ids, g.nominals_at) AS k (job_id, nominal_at)
JOIN noonmark.run r ON r.shard = g.shard AND r.nominal_at = k.nominal_at AND r.job_id = k.job_id
WHERE g.shard = $1
