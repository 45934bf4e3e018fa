-- The jobs as their owner needs them to make runs. LIMIT keeps the keys outside of the join; the order, which
-- one row has anyway, picks the primary key.
SELECT j.job_id, j.tenant_id, j.name, j.version, j.policy_id, j.schedule_id, j.jitter_ms, j.priority, j.catch_up, j.active,
       j.created_at, j.planned_from, j.input::text, j.ends_at, j.runs_left, j.catch_up_s, j.delay_ms, j.link_at, j.labels,
    CASE WHEN j.skips THEN ARRAY(
        SELECT s.nominal_at FROM noonmark.job_skip s WHERE s.shard = j.shard AND s.job_id = j.job_id ORDER BY s.nominal_at
    ) END AS skips
FROM unnest($1::smallint[], $2::bigint[]) AS k (shard, job_id)
CROSS JOIN LATERAL (
    SELECT x.* FROM noonmark.job x
    WHERE x.shard = k.shard AND x.job_id BETWEEN k.job_id AND k.job_id
    ORDER BY x.job_id
    LIMIT 1
) AS j
