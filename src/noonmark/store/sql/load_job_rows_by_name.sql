-- The same, by the jobs' names. LIMIT keeps the keys outside of the join; the order, which one row has anyway, picks the
-- index on names.
SELECT j.job_id, j.tenant_id, j.name, j.version, j.policy_id, j.schedule_id, j.jitter_ms, j.priority, j.catch_up, j.active,
       j.created_at, j.planned_from, j.input::text, j.ends_at, j.runs_left, j.catch_up_s, j.delay_ms, j.link_at, j.labels,
    CASE WHEN j.skips THEN ARRAY(
        SELECT s.nominal_at FROM noonmark.job_skip s WHERE s.shard = j.shard AND s.job_id = j.job_id ORDER BY s.nominal_at
    ) END AS skips
FROM unnest($1::smallint[], $2::text[]) AS k (shard, name)
CROSS JOIN LATERAL (
    SELECT x.* FROM noonmark.job x
    WHERE x.shard = k.shard AND x.tenant_id = $3 AND x.name BETWEEN k.name AND k.name
    ORDER BY x.name
    LIMIT 1
) AS j
