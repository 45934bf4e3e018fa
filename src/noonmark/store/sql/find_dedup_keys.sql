-- The runs that these keys lead to at $4, which is now: shards, jobs and keys side by side.
SELECT d.job_id, d.key, d.nominal_at
FROM unnest($1::smallint[], $2::bigint[], $3::text[]) AS k (shard, job_id, key)
JOIN noonmark.job_dedup d ON d.shard = k.shard AND d.job_id = k.job_id AND d.key = k.key
WHERE d.expires_at > $4
