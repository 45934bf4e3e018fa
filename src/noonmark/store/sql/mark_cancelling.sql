-- A cancel of a running run outlives its owner in the row's reason. Found key by key, then changed at its place: a join of
-- keys and runs could turn round.
UPDATE noonmark.run r
SET reason = $4
WHERE r.ctid = ANY (ARRAY(
    SELECT (
        SELECT x.ctid FROM noonmark.run x WHERE x.shard = k.shard AND x.nominal_at = k.nominal_at AND x.job_id = k.job_id
    )
    FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
))
