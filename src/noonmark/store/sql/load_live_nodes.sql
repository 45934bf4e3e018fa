SELECT n.node_id, n.address FROM noonmark.node n WHERE n.alive AND n.lease_until > clock_timestamp() ORDER BY n.node_id
