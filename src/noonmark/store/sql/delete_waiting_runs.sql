-- All waiting runs of jobs. $1 the distinct shards, $2 the jobs; $3 and $4 the runs that stay, such as those that workers have.
DELETE FROM noonmark.run r
WHERE r.shard = ANY ($1::smallint[]) AND r.job_id = ANY ($2::bigint[])
    AND (r.job_id, r.nominal_at) NOT IN (SELECT * FROM unnest($3::bigint[], $4::timestamptz[]))
RETURNING r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    NULL::text AS input, r.sleeps
