INSERT INTO noonmark.worker (name, queues, tasks, concurrency) VALUES ($1, $2, $3, $4) RETURNING worker_id
