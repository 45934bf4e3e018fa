-- A worker of another tenant is left alone: the caller that named it gets an id of its own.
UPDATE noonmark.worker
SET name = $2, queues = $3, tasks = $4, concurrency = $5, seen_at = clock_timestamp()
WHERE worker_id = $1 AND tenant_id IS NOT DISTINCT FROM $6
RETURNING worker_id
