-- When nobody fired for a shard ($1) although the time $2 passed.
SELECT g.from_at, g.to_at
FROM noonmark.gap g
WHERE g.shard = $1 AND g.from_at < $2 AND g.to_at >= $2
ORDER BY g.from_at DESC
LIMIT 1
