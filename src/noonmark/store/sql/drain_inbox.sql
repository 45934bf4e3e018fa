-- Takes submissions made inside users' transactions, in the order of their arrival.
DELETE FROM noonmark.inbox i
WHERE (i.shard, i.inbox_id) IN (
    SELECT b.shard, b.inbox_id FROM noonmark.inbox b WHERE b.shard = ANY ($1::smallint[])
    ORDER BY b.shard, b.inbox_id LIMIT $2
)
RETURNING i.inbox_id, i.job_id, i.due_at, i.priority, i.has_input, i.input::text
