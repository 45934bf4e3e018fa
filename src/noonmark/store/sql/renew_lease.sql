-- Answers the database's time, which also sets the node's clock; no row: the node was declared dead.
UPDATE noonmark.node
SET lease_until = clock_timestamp() + $2 * interval '1 second'
WHERE node_id = $1 AND alive
RETURNING clock_timestamp() AS now
