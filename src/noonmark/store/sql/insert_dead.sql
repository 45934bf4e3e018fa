-- Runs that used up their attempts, copied from their rows before those go. OFFSET 0 keeps the keys outside of the join.
INSERT INTO noonmark.dead
    (shard, job_id, nominal_at, died_at, tenant_id, version, policy_id, priority, attempt, failures, reason, input, error)
SELECT k.shard, k.job_id, k.nominal_at, k.died_at, r.tenant_id, r.version, r.policy_id, r.priority,
       k.attempt, k.failures, k.reason, r.input, k.error
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[], $4::timestamptz[], $5::integer[], $6::integer[], $7::smallint[],
            $8::text[])
    AS k (shard, nominal_at, job_id, died_at, attempt, failures, reason, error)
CROSS JOIN LATERAL (
    SELECT x.tenant_id, x.version, x.policy_id, x.priority, x.input
    FROM noonmark.run x
    WHERE x.shard = k.shard AND x.nominal_at = k.nominal_at AND x.job_id = k.job_id
    OFFSET 0
) AS r
