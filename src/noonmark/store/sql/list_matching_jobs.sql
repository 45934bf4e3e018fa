-- A page of a tenant's jobs by name, as `list_jobs` gives it, of those that are active or not ($7) and have one of the
-- policies $8; NULL asks for nothing.
WITH page AS (
    SELECT shards.shard, found.name
    FROM generate_series(0, $2::integer - 1) AS shards (shard)
    CROSS JOIN LATERAL (
        SELECT j.name
        FROM noonmark.job j
        WHERE j.shard = shards.shard::smallint AND j.tenant_id = $1 AND j.name > $3 AND j.name >= $4 AND j.name < $5
            AND ($7::boolean IS NULL OR j.active = $7)
            AND ($8::integer[] IS NULL OR j.policy_id = ANY ($8))
        ORDER BY j.name
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
