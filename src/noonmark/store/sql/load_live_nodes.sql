SELECT n.node_id, n.address FROM noonmark.node n WHERE n.alive AND noonmark.leased_until(n) > clock_timestamp() ORDER BY n.node_id
