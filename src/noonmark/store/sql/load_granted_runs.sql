-- The rows of the runs that a shard's grants name, as far as they have not ended. OFFSET 0 keeps the grants outside of the
-- join.
SELECT k.job_id, k.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    noonmark.input_in_memory(r.input) AS input, r.sleeps
FROM noonmark.grant g
CROSS JOIN LATERAL unnest(g.job_ids, g.nominals_at) AS k (job_id, nominal_at)
CROSS JOIN LATERAL (
    SELECT x.due_at, x.tenant_id, x.version, x.policy_id, x.priority, x.attempt, x.failures, x.reason, x.input, x.sleeps
    FROM noonmark.run x
    WHERE x.shard = g.shard AND x.nominal_at = k.nominal_at AND x.job_id = k.job_id
    OFFSET 0
) AS r
WHERE g.shard = $1
