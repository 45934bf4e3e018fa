-- Jobs that are paused or resumed: $1 whether they are active now, $2 when; then job by job.
UPDATE noonmark.job j
SET active = $1, updated_at = $2, planned_from = k.planned_from, ends_at = k.ends_at, runs_left = k.runs_left,
    link_at = k.link_at
FROM unnest($3::smallint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::integer[], $8::timestamptz[])
    AS k (shard, job_id, planned_from, ends_at, runs_left, link_at)
WHERE j.shard = k.shard AND j.job_id = k.job_id
