-- Takes submissions made inside users' transactions, of each shard in the order of their arrival. Shard by shard, then by
-- their places: neither a lie about the number of rows nor a join can make this read them all.
DELETE FROM noonmark.inbox i
WHERE i.ctid = ANY (ARRAY(
    SELECT b.ctid
    FROM unnest($1::smallint[]) AS s (shard)
    CROSS JOIN LATERAL (
        SELECT x.ctid FROM noonmark.inbox x WHERE x.shard = s.shard ORDER BY x.inbox_id LIMIT $2
    ) AS b
    LIMIT $2
))
RETURNING i.inbox_id, i.job_id, i.due_at, i.priority, i.has_input, i.input::text
