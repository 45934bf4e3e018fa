-- A cancel of a running run outlives its owner in the row's reason.
UPDATE noonmark.run r
SET reason = $4
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
WHERE r.shard = k.shard AND r.nominal_at = k.nominal_at AND r.job_id = k.job_id
