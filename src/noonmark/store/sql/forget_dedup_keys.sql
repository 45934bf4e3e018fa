-- Of the shards $1, keys that expired before $2; at most $3, so that nobody waits long for their locks.
DELETE FROM noonmark.job_dedup d
WHERE (d.shard, d.job_id, d.key) IN (
    SELECT o.shard, o.job_id, o.key FROM noonmark.job_dedup o
    WHERE o.shard = ANY ($1::smallint[]) AND o.expires_at < $2
    LIMIT $3
) AND d.expires_at < $2
