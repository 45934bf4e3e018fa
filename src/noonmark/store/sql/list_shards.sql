-- Every shard with its owner, its term and how far its schedules were fired.
SELECT s.shard, s.owner, n.address, s.term, noonmark.ticked_until(s) AS watermark
FROM noonmark.shard s
LEFT JOIN noonmark.node n ON n.node_id = s.owner AND n.alive
ORDER BY s.shard
