UPDATE noonmark.node SET alive = false, ended_at = clock_timestamp() WHERE node_id = ANY ($1::bigint[]) AND alive
