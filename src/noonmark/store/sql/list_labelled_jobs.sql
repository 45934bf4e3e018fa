-- The same along a label, $9: of the jobs that have it, those with all the labels $10.
WITH page AS (
    SELECT shards.shard, found.name
    FROM generate_series(0, $2::integer - 1) AS shards (shard)
    CROSS JOIN LATERAL (
        SELECT l.name
        FROM noonmark.job_label l
        JOIN noonmark.job j ON j.shard = l.shard AND j.tenant_id = l.tenant_id AND j.name = l.name
        WHERE l.shard = shards.shard::smallint AND l.tenant_id = $1 AND l.label = $9
            AND l.name > $3 AND l.name >= $4 AND l.name < $5
            AND j.labels @> $10::text[]
            AND ($7::boolean IS NULL OR j.active = $7)
            AND ($8::integer[] IS NULL OR j.policy_id = ANY ($8))
        ORDER BY l.name
        LIMIT $6
    ) AS found
    ORDER BY found.name
    LIMIT $6
)
SELECT j.job_id, j.version, j.active, j.created_at, j.updated_at, v.spec, s.text AS schedule, j.planned_from, j.ends_at,
    j.link_at, CASE WHEN j.skips THEN ARRAY(
        SELECT o.nominal_at FROM noonmark.job_skip o WHERE o.shard = j.shard AND o.job_id = j.job_id ORDER BY o.nominal_at
    ) END AS skips, j.jitter_ms
FROM page
JOIN noonmark.job j ON j.shard = page.shard::smallint AND j.tenant_id = $1 AND j.name = page.name
JOIN noonmark.job_version v ON v.shard = j.shard AND v.job_id = j.job_id AND v.version = j.version
LEFT JOIN noonmark.schedule s ON s.schedule_id = j.schedule_id
ORDER BY j.name
