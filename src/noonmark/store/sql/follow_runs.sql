-- Which of these runs are live, and in which state: $1 shards, $2 jobs and $3 nominal times side by side.
WITH held AS MATERIALIZED (
    SELECT h.job_id, h.nominal_at, h.attempt
    FROM noonmark.grant g, unnest(g.job_ids, g.nominals_at, g.attempts) AS h (job_id, nominal_at, attempt)
    WHERE g.shard = ANY ($1::smallint[])
)
SELECT r.nominal_at, r.due_at, r.version, r.priority::integer, r.attempt, r.reason, r.error, CASE
        WHEN (r.job_id, r.nominal_at, r.attempt + 1) IN (SELECT h.job_id, h.nominal_at, h.attempt FROM held h)
            THEN 'running'
        WHEN r.parked THEN 'parked'
        WHEN r.attempt > 0 AND r.due_at > clock_timestamp() THEN 'retrying'
        ELSE 'waiting'
    END AS state, NULL::smallint AS outcome, NULL::timestamptz AS finished_at, j.name, r.job_id
FROM unnest($1::smallint[], $2::bigint[], $3::timestamptz[]) AS w (shard, job_id, nominal_at)
JOIN noonmark.run r ON r.shard = w.shard AND r.nominal_at = w.nominal_at AND r.job_id = w.job_id
LEFT JOIN noonmark.job j ON j.shard = r.shard AND j.job_id = r.job_id
