-- Dead letters to be discarded; the history of their attempts stays. Found key by key, then deleted by their places:
-- a join of keys and dead letters could turn round.
DELETE FROM noonmark.dead d
WHERE d.ctid = ANY (ARRAY(
    SELECT (
        SELECT x.ctid FROM noonmark.dead x
        WHERE x.shard = k.shard AND x.job_id = k.job_id AND x.nominal_at BETWEEN k.nominal_at AND k.nominal_at
        ORDER BY x.nominal_at -- picks the primary key
        LIMIT 1
    )
    FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
)) AND d.tenant_id + 0 = $4 -- never by walking the tenant's
RETURNING d.job_id, d.nominal_at
