-- Sleeping runs whose time falls into the tick's window.
SELECT r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    CASE WHEN octet_length(r.input::text) > 1024 THEN '' ELSE r.input::text END AS input, r.sleeps
FROM noonmark.run r
WHERE r.shard = ANY ($1::smallint[]) AND r.sleeps AND r.due_at > $2 AND r.due_at <= $3 AND NOT r.parked
