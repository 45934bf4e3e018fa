-- When the shard $1 had no owner to fire for it, around the time $2.
SELECT g.from_at, g.to_at
FROM noonmark.gap g
WHERE g.shard = $1 AND g.from_at < $2 AND g.to_at >= $2
ORDER BY g.from_at DESC
LIMIT 1
