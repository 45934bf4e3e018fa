-- Runs that are due and in no worker's hands, by queue and task, of at most $1 of them, and whether a worker that was seen
-- in the last minute serves them.
WITH due AS (
    SELECT r.policy_id, r.due_at
    FROM noonmark.run r
    WHERE r.due_at < clock_timestamp() AND NOT r.parked
        AND NOT EXISTS (
            SELECT FROM noonmark.grant g
            WHERE g.shard = r.shard AND r.job_id = ANY (g.job_ids)
                AND (r.job_id, r.nominal_at) IN (SELECT * FROM unnest(g.job_ids, g.nominals_at)))
    LIMIT $1
), kinds AS (
    SELECT coalesce(p.spec::json ->> 'queue', 'default') AS queue, p.spec::json ->> 'task' AS task,
        count(*) AS runs, extract(epoch FROM clock_timestamp() - min(d.due_at))::float8 AS oldest_s
    FROM due d
    JOIN noonmark.policy p USING (policy_id)
    GROUP BY 1, 2
)
SELECT k.queue, k.task, k.runs, k.oldest_s,
    EXISTS (SELECT FROM noonmark.worker w
            WHERE w.seen_at > clock_timestamp() - interval '1 minute'
                AND k.queue = ANY (w.queues) AND k.task = ANY (w.tasks)) AS served
FROM kinds k
ORDER BY k.runs DESC
