-- All waiting runs of a job; granted ones stay.
DELETE FROM noonmark.run r
WHERE r.shard = $1 AND r.job_id = $2 AND NOT r.nominal_at = ANY ($3::timestamptz[])
RETURNING r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    NULL::text AS input, r.sleeps
