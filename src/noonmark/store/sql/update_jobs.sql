-- Jobs that get a new version, at $1; then job by job. Labels come as one text each, a line for each label. Found key by key,
-- then changed at their places: a join of keys and jobs could turn round.
UPDATE noonmark.job j
SET version = k.version, policy_id = k.policy_id, schedule_id = k.schedule_id, jitter_ms = k.jitter_ms,
    priority = k.priority, catch_up = k.catch_up, input = k.input::json, updated_at = $1, planned_from = k.planned_from,
    ends_at = k.ends_at, runs_left = k.runs_left, catch_up_s = k.catch_up_s, delay_ms = k.delay_ms, link_at = k.link_at,
    labels = string_to_array(k.labels, E'\n')
FROM unnest($2::smallint[], $3::bigint[], $4::integer[], $5::integer[], $6::integer[], $7::integer[], $8::smallint[],
            $9::smallint[], $10::text[], $11::timestamptz[], $12::timestamptz[], $13::integer[],
            $14::double precision[], $15::bigint[], $16::timestamptz[], $17::text[])
    AS k (shard, job_id, version, policy_id, schedule_id, jitter_ms, priority, catch_up, input, planned_from, ends_at,
          runs_left, catch_up_s, delay_ms, link_at, labels)
CROSS JOIN LATERAL (
    SELECT x.ctid FROM noonmark.job x
    WHERE x.shard = k.shard AND x.job_id BETWEEN k.job_id AND k.job_id
    ORDER BY x.job_id
    LIMIT 1
) AS found
WHERE j.ctid = found.ctid
