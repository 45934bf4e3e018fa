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
SELECT r.job_id, r.version, r.active, r.created_at, r.updated_at, r.spec, r.schedule, r.planned_from, r.ends_at, r.link_at,
    r.skips, r.jitter_ms
FROM page
JOIN noonmark.job_record r ON r.shard = page.shard::smallint AND r.tenant_id = $1 AND r.name = page.name
ORDER BY r.name
