-- Keys that lead to new runs until $5; an expired one is used anew.
INSERT INTO noonmark.job_dedup (shard, job_id, key, nominal_at, expires_at)
SELECT k.shard, k.job_id, k.key, k.nominal_at, $5
FROM unnest($1::smallint[], $2::bigint[], $3::text[], $4::timestamptz[]) AS k (shard, job_id, key, nominal_at)
ON CONFLICT (shard, job_id, key) DO UPDATE SET nominal_at = EXCLUDED.nominal_at, expires_at = EXCLUDED.expires_at
