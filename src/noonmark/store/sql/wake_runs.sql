-- Sleeping runs whose time falls into the tick's window.
SELECT r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    noonmark.input_in_memory(r.input) AS input, r.sleeps
FROM noonmark.run r
WHERE r.shard = ANY ($1::smallint[]) AND r.sleeps AND r.due_at > $2 AND r.due_at <= $3 AND NOT r.parked
