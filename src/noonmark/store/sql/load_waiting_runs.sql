-- Runs of jobs whose time is within their shard's watermark. $1 the distinct shards with $2 their watermarks, $3 the jobs, $4 how
-- many. Each shard is read once, by its part of the key.
SELECT r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.policy_id, r.priority, r.attempt, r.failures, r.reason,
    noonmark.input_in_memory(r.input) AS input, r.sleeps
FROM unnest($1::smallint[], $2::timestamptz[]) AS w (shard, watermark)
CROSS JOIN LATERAL (
    SELECT x.* FROM noonmark.run x
    WHERE x.shard = w.shard AND x.due_at <= w.watermark AND x.job_id = ANY ($3::bigint[]) AND NOT x.parked
    LIMIT $4
) AS r
LIMIT $4
