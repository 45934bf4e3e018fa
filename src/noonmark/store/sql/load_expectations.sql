-- The jobs whose silence somebody wants to hear of, in the shards $1; only the jobs $2 unless that is NULL; at most $3.
-- $4 is the outcome of a success. Deliveries are left out: they have no notices of their own.
WITH listening AS MATERIALIZED (
    SELECT s.subscription_id, s.tenant_id, s.job_id, s.labels, s.expect_every_s, s.grace_s, s.updated_at
    FROM noonmark.subscription s
    WHERE s.active AND 'silent' = ANY (s.events)
), meant AS (
    SELECT l.subscription_id, j.shard, j.job_id
    FROM listening l
    JOIN noonmark.job j
        ON j.shard = noonmark.shard_of(l.job_id) AND j.job_id = l.job_id AND j.tenant_id = l.tenant_id AND j.active
    WHERE j.shard = ANY ($1::smallint[]) AND ($2::bigint[] IS NULL OR j.job_id = ANY ($2::bigint[]))
    UNION ALL
    SELECT l.subscription_id, j.shard, j.job_id
    FROM listening l
    JOIN unnest($2::bigint[]) AS k (job_id) ON l.job_id IS NULL
    JOIN noonmark.job j
        ON j.shard = noonmark.shard_of(k.job_id) AND j.job_id = k.job_id AND j.tenant_id = l.tenant_id AND j.active
        AND (l.labels IS NULL OR j.labels @> l.labels)
    UNION ALL
    (
        SELECT l.subscription_id, j.shard, j.job_id
        FROM listening l
        JOIN noonmark.job j
            ON j.shard = ANY ($1::smallint[]) AND j.tenant_id = l.tenant_id AND j.active
            AND (l.labels IS NULL OR j.labels @> l.labels)
            AND (l.expect_every_s IS NOT NULL OR j.schedule_id IS NOT NULL OR j.link_at IS NOT NULL)
        WHERE l.job_id IS NULL AND $2::bigint[] IS NULL
        LIMIT $3
    )
)
SELECT l.subscription_id, j.job_id, greatest(j.planned_from, l.updated_at) AS since, j.ends_at, c.text, j.skips, j.link_at,
    l.expect_every_s, l.grace_s, a.finished_at AS succeeded_at
FROM meant m
JOIN listening l ON l.subscription_id = m.subscription_id
JOIN noonmark.job j ON j.shard = m.shard AND j.job_id = m.job_id
LEFT JOIN noonmark.schedule c ON c.schedule_id = j.schedule_id
LEFT JOIN LATERAL (
    SELECT a.finished_at
    FROM noonmark.attempt a
    WHERE a.shard = j.shard AND a.job_id = j.job_id AND a.outcome = $4 AND a.finished_at > l.updated_at
    ORDER BY a.nominal_at DESC, a.attempt DESC
    LIMIT 1
) a ON true
WHERE (l.expect_every_s IS NOT NULL OR j.schedule_id IS NOT NULL OR j.link_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM noonmark.subscription d WHERE d.delivery_job = j.job_id)
LIMIT $3
