-- Rows of long dead nodes that own nothing.
DELETE FROM noonmark.node n
WHERE NOT n.alive AND n.ended_at < clock_timestamp() - interval '7 days'
    AND NOT EXISTS (SELECT FROM noonmark.shard s WHERE s.owner = n.node_id)
