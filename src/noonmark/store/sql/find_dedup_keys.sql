-- The runs that these keys lead to at $4, which is now: shards, jobs and keys side by side. LIMIT keeps the keys outside of
-- the join; the order, which one row has anyway, picks the primary key.
SELECT k.job_id, k.key, d.nominal_at
FROM unnest($1::smallint[], $2::bigint[], $3::text[]) AS k (shard, job_id, key)
CROSS JOIN LATERAL (
    SELECT x.nominal_at, x.expires_at FROM noonmark.job_dedup x
    WHERE x.shard = k.shard AND x.job_id = k.job_id AND x.key BETWEEN k.key AND k.key
    ORDER BY x.key
    LIMIT 1
) AS d
WHERE d.expires_at > $4
