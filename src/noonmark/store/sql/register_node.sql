INSERT INTO noonmark.node (address, version, lease_until, public_address, process)
VALUES ($1, $2, clock_timestamp() + $3 * interval '1 second', $4, $5)
RETURNING node_id
