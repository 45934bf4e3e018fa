UPDATE noonmark.worker SET seen_at = clock_timestamp() WHERE worker_id = ANY ($1::bigint[])
