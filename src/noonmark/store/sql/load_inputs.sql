-- Inputs that were too large to keep in memory, for runs that are granted now.
SELECT r.job_id, r.nominal_at, r.input::text
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
JOIN noonmark.run r ON r.shard = k.shard AND r.nominal_at = k.nominal_at AND r.job_id = k.job_id
