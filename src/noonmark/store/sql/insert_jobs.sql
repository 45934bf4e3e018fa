-- A name that is taken leaves its job out of the answer.
INSERT INTO noonmark.job
    (shard, job_id, tenant_id, version, policy_id, schedule_id, jitter_ms, priority, catch_up, planned_from, created_at,
     updated_at, name, input)
SELECT k.shard, k.job_id, $1, 1, k.policy_id, k.schedule_id, k.jitter_ms, k.priority, k.catch_up, $2, $2, $2, k.name,
       k.input::json
FROM unnest($3::smallint[], $4::bigint[], $5::integer[], $6::integer[], $7::integer[], $8::smallint[], $9::smallint[],
            $10::text[], $11::text[])
    AS k (shard, job_id, policy_id, schedule_id, jitter_ms, priority, catch_up, name, input)
ON CONFLICT (shard, tenant_id, name) DO NOTHING
RETURNING name
