-- The owners of shards.
SELECT s.shard, s.owner, n.address
FROM noonmark.shard s
LEFT JOIN noonmark.node n ON n.node_id = s.owner
ORDER BY s.shard
