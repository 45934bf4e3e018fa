-- The rows of a key, shard by shard. $3 is now. The order picks the primary key, LIMIT keeps expired rows outside.
SELECT r.shard, r.fingerprint, r.answer::text
FROM (
    SELECT x.* FROM noonmark.request x
    WHERE x.tenant_id = $1 AND x.key BETWEEN $2 AND $2
    ORDER BY x.key, x.shard
    LIMIT 5000
) AS r
WHERE r.expires_at > $3
