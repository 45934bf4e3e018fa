-- Runs made together with a change of their jobs.
INSERT INTO noonmark.run
    (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, attempt, failures, reason,
     input, sleeps)
SELECT k.shard, k.nominal_at, k.job_id, k.due_at, k.tenant_id, k.version, k.policy_id, k.priority, k.attempt, k.failures,
       k.reason, k.input::json, k.sleeps
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[], $4::timestamptz[], $5::integer[], $6::integer[], $7::integer[],
            $8::smallint[], $9::integer[], $10::integer[], $11::smallint[], $12::text[], $13::boolean[])
    AS k (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, attempt, failures, reason, input,
          sleeps)
ON CONFLICT DO NOTHING
