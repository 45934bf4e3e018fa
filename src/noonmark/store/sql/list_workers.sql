-- Workers, the last registered first: below the id $1, at most $2.
SELECT w.worker_id, w.name, w.queues, w.tasks, w.concurrency, w.started_at, w.seen_at
FROM noonmark.worker w
WHERE w.worker_id < $1
ORDER BY w.worker_id DESC
LIMIT $2
