UPDATE noonmark.shard s
SET owner = $1, term = term + 1
WHERE s.shard IN (SELECT f.shard FROM noonmark.shard f WHERE f.owner IS NULL ORDER BY f.shard LIMIT $2 FOR UPDATE SKIP LOCKED)
RETURNING s.shard, s.term, s.watermark
