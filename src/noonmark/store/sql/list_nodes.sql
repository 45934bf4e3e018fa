-- The live nodes and how many shards each owns.
SELECT n.node_id, n.address, n.version, n.started_at, noonmark.leased_until(n) > clock_timestamp() AS leased,
    (SELECT count(*) FROM noonmark.shard s WHERE s.owner = n.node_id) AS shards,
    coalesce(n.public_address, n.address) AS public_address, n.process
FROM noonmark.node n
WHERE n.alive
ORDER BY n.node_id
