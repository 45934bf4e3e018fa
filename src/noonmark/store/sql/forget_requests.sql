-- Keys that have expired, some at a time. $1 shards, $2 now, $3 how many.
DELETE FROM noonmark.request r
WHERE (r.tenant_id, r.key, r.shard) IN (
    SELECT o.tenant_id, o.key, o.shard FROM noonmark.request o
    WHERE o.shard = ANY ($1::smallint[]) AND o.expires_at <= $2
    LIMIT $3
)
