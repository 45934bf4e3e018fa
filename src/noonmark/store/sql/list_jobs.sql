-- A page of a tenant's jobs by name: $1 tenant, $2 number of shards, names after $3, from $4 and below $5, at most $6.
-- Each shard gives its first names from the index alone; the page is the first of those, joined to its rows.
WITH page AS (
    SELECT shards.shard, found.name
    FROM generate_series(0, $2::integer - 1) AS shards (shard)
    CROSS JOIN LATERAL (
        SELECT j.name
        FROM noonmark.job j
        WHERE j.shard = shards.shard::smallint AND j.tenant_id = $1 AND j.name > $3 AND j.name >= $4 AND j.name < $5
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
