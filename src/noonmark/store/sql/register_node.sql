INSERT INTO noonmark.node (address, version, lease_until)
VALUES ($1, $2, clock_timestamp() + $3 * interval '1 second')
RETURNING node_id
