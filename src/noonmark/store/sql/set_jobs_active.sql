-- Jobs that are paused or resumed: $1 whether they are active now, $2 when; then job by job. Found key by key, then changed
-- at their places: a join of keys and jobs could turn round.
UPDATE noonmark.job j
SET active = $1, updated_at = $2, planned_from = k.planned_from, ends_at = k.ends_at, runs_left = k.runs_left,
    link_at = k.link_at
FROM unnest($3::smallint[], $4::bigint[], $5::timestamptz[], $6::timestamptz[], $7::integer[], $8::timestamptz[])
    AS k (shard, job_id, planned_from, ends_at, runs_left, link_at)
CROSS JOIN LATERAL (
    SELECT x.ctid FROM noonmark.job x
    WHERE x.shard = k.shard AND x.job_id BETWEEN k.job_id AND k.job_id
    ORDER BY x.job_id
    LIMIT 1
) AS found
WHERE j.ctid = found.ctid
