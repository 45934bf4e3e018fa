-- Of the shards $1, keys that expired before $2; at most $3, so that no one waits long for their locks. Shard by shard, then
-- by their places: neither a lie about the number of keys nor a join can make this read them all.
DELETE FROM noonmark.job_dedup d
WHERE d.ctid = ANY (ARRAY(
    SELECT o.ctid
    FROM unnest($1::smallint[]) AS s (shard)
    CROSS JOIN LATERAL (
        SELECT x.ctid FROM noonmark.job_dedup x
        WHERE x.shard = s.shard AND x.expires_at < $2
        ORDER BY x.expires_at
        LIMIT $3
    ) AS o
    LIMIT $3
)) AND d.expires_at < $2
