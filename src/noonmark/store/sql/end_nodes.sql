-- Nodes that are declared dead; their leases go with them.
WITH gone AS (DELETE FROM noonmark.lease WHERE node_id = ANY ($1::bigint[]))
UPDATE noonmark.node SET alive = false, ended_at = clock_timestamp() WHERE node_id = ANY ($1::bigint[]) AND alive
