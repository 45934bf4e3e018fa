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
SELECT r.job_id, r.version, r.active, r.created_at, r.updated_at, r.spec, r.schedule, r.planned_from, r.ends_at, r.link_at,
    r.skips, r.jitter_ms
FROM page
JOIN noonmark.job_record r ON r.shard = page.shard::smallint AND r.tenant_id = $1 AND r.name = page.name
ORDER BY r.name
