SELECT w.worker_id, w.name FROM noonmark.worker w WHERE w.worker_id = ANY ($1::bigint[])
