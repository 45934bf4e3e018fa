-- Nodes that are declared dead. Their leases go with them; until when the last one held stays in the node's row.
WITH gone AS (DELETE FROM noonmark.lease WHERE node_id = ANY ($1::bigint[]))
UPDATE noonmark.node n
SET alive = false, ended_at = clock_timestamp(), lease_until = noonmark.leased_until(n)
WHERE n.node_id = ANY ($1::bigint[]) AND n.alive
