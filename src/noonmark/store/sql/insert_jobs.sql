-- A name that is taken leaves its job out of the answer.
INSERT INTO noonmark.job
    (shard, job_id, tenant_id, version, policy_id, schedule_id, jitter_ms, priority, catch_up, created_at, updated_at,
     planned_from, name, input, ends_at, runs_left, catch_up_s, delay_ms, link_at, labels)
SELECT k.shard, k.job_id, $1, 1, k.policy_id, k.schedule_id, k.jitter_ms, k.priority, k.catch_up, $2, $2,
       k.planned_from, k.name, k.input::json, k.ends_at, k.runs_left, k.catch_up_s, k.delay_ms, k.link_at,
       string_to_array(k.labels, E'\n')
FROM unnest($3::smallint[], $4::bigint[], $5::integer[], $6::integer[], $7::integer[], $8::smallint[], $9::smallint[],
            $10::timestamptz[], $11::text[], $12::text[], $13::timestamptz[], $14::integer[], $15::double precision[],
            $16::bigint[], $17::timestamptz[], $18::text[])
    AS k (shard, job_id, policy_id, schedule_id, jitter_ms, priority, catch_up, planned_from, name, input, ends_at,
          runs_left, catch_up_s, delay_ms, link_at, labels)
ON CONFLICT (shard, tenant_id, name) DO NOTHING
RETURNING name
