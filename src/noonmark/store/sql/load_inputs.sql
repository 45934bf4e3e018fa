-- Inputs that were too large to keep in memory, for runs that are granted now. OFFSET 0 keeps the keys outside of the join.
SELECT k.job_id, k.nominal_at, r.input::text
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
CROSS JOIN LATERAL (
    SELECT x.input FROM noonmark.run x
    WHERE x.shard = k.shard AND x.nominal_at = k.nominal_at AND x.job_id = k.job_id
    OFFSET 0
) AS r
