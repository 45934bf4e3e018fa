INSERT INTO noonmark.worker (name, queues, tasks, concurrency, tenant_id) VALUES ($1, $2, $3, $4, $5) RETURNING worker_id
