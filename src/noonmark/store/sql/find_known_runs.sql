-- Which of these runs exist, or did: shards, nominal times and jobs side by side.
SELECT k.nominal_at
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
JOIN noonmark.run r ON r.shard = k.shard AND r.nominal_at = k.nominal_at AND r.job_id = k.job_id
UNION ALL
SELECT k.nominal_at
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
JOIN noonmark.dead d ON d.shard = k.shard AND d.nominal_at = k.nominal_at AND d.job_id = k.job_id
UNION ALL
SELECT k.nominal_at
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
JOIN noonmark.attempt a ON a.shard = k.shard AND a.nominal_at = k.nominal_at AND a.job_id = k.job_id AND a.final
