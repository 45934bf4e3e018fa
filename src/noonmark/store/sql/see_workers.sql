-- When workers ($1) were last heard by this node ($2). Every node hears every worker: who comes first writes, the others
-- find it done, and nobody waits for another's lock.
WITH heard AS (
    SELECT w.worker_id, h.heard_at
    FROM unnest($1::bigint[], $2::timestamptz[]) AS h (worker_id, heard_at)
    JOIN noonmark.worker w ON w.worker_id = h.worker_id AND w.seen_at < h.heard_at - interval '1 second'
    FOR NO KEY UPDATE OF w SKIP LOCKED
)
UPDATE noonmark.worker w SET seen_at = heard.heard_at FROM heard WHERE w.worker_id = heard.worker_id
