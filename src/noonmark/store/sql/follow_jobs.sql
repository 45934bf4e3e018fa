-- The runs of these jobs ($1 shards and $2 jobs side by side): their newest live runs whose time is not beyond the next
-- minute, and the newest of those that ended since $3, at most $4 of each kind.
WITH held AS MATERIALIZED (
    SELECT h.job_id, h.nominal_at, h.attempt
    FROM noonmark.grant g, unnest(g.job_ids, g.nominals_at, g.attempts) AS h (job_id, nominal_at, attempt)
    WHERE g.shard = ANY ($1::smallint[]) AND h.job_id = ANY ($2::bigint[])
)
SELECT f.nominal_at, f.due_at, f.version, f.priority, f.attempt, f.reason, f.error, CASE
        WHEN f.outcome IS NOT NULL THEN NULL
        WHEN (w.job_id, f.nominal_at, f.attempt + 1) IN (SELECT h.job_id, h.nominal_at, h.attempt FROM held h)
            THEN 'running'
        WHEN f.parked THEN 'parked'
        WHEN f.attempt > 0 AND f.due_at > clock_timestamp() THEN 'retrying'
        ELSE 'waiting'
    END AS state, f.outcome, f.finished_at, j.name, w.job_id
FROM unnest($1::smallint[], $2::bigint[]) AS w (shard, job_id)
JOIN noonmark.job j ON j.shard = w.shard AND j.job_id = w.job_id
CROSS JOIN LATERAL (
    (
        SELECT r.nominal_at, r.due_at, r.version, r.priority::integer, r.attempt, r.reason, r.error, r.parked,
            NULL::smallint AS outcome, NULL::timestamptz AS finished_at
        FROM noonmark.run r
        WHERE r.shard = w.shard AND r.job_id = w.job_id AND r.nominal_at <= clock_timestamp() + interval '1 minute'
        ORDER BY r.nominal_at DESC
        LIMIT $4
    )
    UNION ALL
    (
        SELECT a.nominal_at, a.due_at, a.version, NULL, a.attempt, a.reason, a.error, false, a.outcome, a.finished_at
        FROM noonmark.attempt a
        WHERE a.shard = w.shard AND a.job_id = w.job_id AND a.final AND a.finished_at >= $3
        ORDER BY a.nominal_at DESC, a.finished_at DESC
        LIMIT $4
    )
) AS f
