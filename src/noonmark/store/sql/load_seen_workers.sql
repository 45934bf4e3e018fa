-- When each of the workers $1 was last heard by any node.
SELECT w.worker_id, w.seen_at FROM noonmark.worker w WHERE w.worker_id = ANY ($1::bigint[])
