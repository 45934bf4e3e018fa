-- Whether every shard has a live owner, and how far the last one is behind.
SELECT count(*) AS shards,
    count(*) FILTER (WHERE n.node_id IS NULL) AS without_owner,
    coalesce(extract(epoch FROM clock_timestamp() - min(noonmark.ticked_until(s)))::float8, 0) AS watermark_age_s
FROM noonmark.shard s
LEFT JOIN noonmark.node n ON n.node_id = s.owner AND n.alive
