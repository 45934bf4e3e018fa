-- Runs that ended. Found key by key, then deleted by their places: a join of keys and runs could turn round.
DELETE FROM noonmark.run r
WHERE r.ctid = ANY (ARRAY(
    SELECT (
        SELECT x.ctid FROM noonmark.run x WHERE x.shard = k.shard AND x.nominal_at = k.nominal_at AND x.job_id = k.job_id
    )
    FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
))
