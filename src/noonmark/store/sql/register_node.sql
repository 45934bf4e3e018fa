-- Its lease is a row of its own; infinity keeps older nodes, which know no such rows, from declaring it dead.
WITH born AS (
    INSERT INTO noonmark.node (address, version, lease_until, public_address, process)
    VALUES ($1, $2, 'infinity', $4, $5)
    RETURNING node_id
)
INSERT INTO noonmark.lease (node_id, until)
SELECT b.node_id, clock_timestamp() + $3 * interval '1 second' FROM born b
RETURNING node_id
