UPDATE noonmark.worker
SET name = $2, queues = $3, tasks = $4, concurrency = $5, seen_at = clock_timestamp()
WHERE worker_id = $1
RETURNING worker_id
