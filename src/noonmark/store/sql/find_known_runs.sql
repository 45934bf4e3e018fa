-- Which of these runs exist, or did: shards, nominal times and jobs side by side. Each key by itself: a join could turn round.
SELECT k.nominal_at
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
CROSS JOIN LATERAL (
    SELECT FROM noonmark.run r WHERE r.shard = k.shard AND r.nominal_at = k.nominal_at AND r.job_id = k.job_id
    UNION ALL
    (
        SELECT FROM noonmark.dead d
        WHERE d.shard = k.shard AND d.job_id = k.job_id AND d.nominal_at BETWEEN k.nominal_at AND k.nominal_at
        ORDER BY d.nominal_at -- picks the primary key
        LIMIT 1
    )
    UNION ALL
    SELECT FROM noonmark.attempt a
    WHERE a.shard = k.shard AND a.nominal_at = k.nominal_at AND a.job_id = k.job_id AND a.final
    LIMIT 1
) AS known
