-- When workers ($1) were last heard by this node ($2). Every node hears every worker: the first writes, the others find
-- it done, and no node waits for another's lock. Found key by key, then changed at their places: a join of keys and
-- workers could turn round.
WITH heard AS MATERIALIZED (
    SELECT x.ctid AS place, h.heard_at
    FROM unnest($1::bigint[], $2::timestamptz[]) AS h (worker_id, heard_at)
    CROSS JOIN LATERAL (
        SELECT w.ctid FROM noonmark.worker w
        WHERE w.worker_id BETWEEN h.worker_id AND h.worker_id AND w.seen_at < h.heard_at - interval '1 second'
        ORDER BY w.worker_id
        LIMIT 1
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS x
)
UPDATE noonmark.worker w SET seen_at = heard.heard_at FROM heard WHERE w.ctid = heard.place
