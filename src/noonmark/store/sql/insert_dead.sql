-- Runs that used up their attempts, copied from their rows before those go.
INSERT INTO noonmark.dead
    (shard, job_id, nominal_at, died_at, tenant_id, version, policy_id, priority, attempt, failures, reason, input, error)
SELECT r.shard, r.job_id, r.nominal_at, k.died_at, r.tenant_id, r.version, r.policy_id, r.priority,
       k.attempt, k.failures, k.reason, r.input, k.error
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[], $4::timestamptz[], $5::integer[], $6::integer[], $7::smallint[],
            $8::text[])
    AS k (shard, nominal_at, job_id, died_at, attempt, failures, reason, error)
JOIN noonmark.run r ON r.shard = k.shard AND r.nominal_at = k.nominal_at AND r.job_id = k.job_id
