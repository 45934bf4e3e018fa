-- Workers that were heard of lately and serve a queue ($1) and a task ($2): how many, their places, and how many are taken.
WITH serving AS MATERIALIZED (
    SELECT w.worker_id, w.concurrency
    FROM noonmark.worker w
    WHERE $1 = ANY (w.queues) AND $2 = ANY (w.tasks) AND w.seen_at > clock_timestamp() - interval '30 seconds'
)
SELECT count(*)::integer AS workers, coalesce(sum(s.concurrency), 0)::integer AS places,
    coalesce((
        SELECT sum(cardinality(g.job_ids))
        FROM noonmark.grant g
        WHERE g.worker_id IN (SELECT s.worker_id FROM serving s)
    ), 0)::integer AS taken
FROM serving s
