-- Live runs of a job, newest nominal time first: $1 shard, $2 job, before the nominal time $3, not before $4, at most $5,
-- in the states $6, with $7 in their error, for the reasons $8.
WITH held AS MATERIALIZED (
    SELECT h.nominal_at, h.attempt
    FROM noonmark.grant g, unnest(g.job_ids, g.nominals_at, g.attempts) AS h (job_id, nominal_at, attempt)
    WHERE g.shard = $1 AND h.job_id = $2
), live AS (
    SELECT r.shard, r.job_id, r.nominal_at, r.due_at, r.version, r.priority, r.attempt, r.reason, r.error, CASE
            WHEN (r.nominal_at, r.attempt + 1) IN (SELECT h.nominal_at, h.attempt FROM held h) THEN 'running'
            WHEN r.parked THEN 'parked'
            WHEN r.attempt > 0 AND r.due_at > now() THEN 'retrying'
            ELSE 'waiting'
        END AS state
    FROM noonmark.run r
    WHERE r.shard = $1 AND r.job_id = $2 AND r.nominal_at < $3 AND r.nominal_at >= $4
        AND ($7::text IS NULL OR position(lower($7) IN lower(r.error)) > 0)
        AND ($8::smallint[] IS NULL OR r.reason = ANY ($8))
    ORDER BY r.nominal_at DESC
)
SELECT NULL::timestamptz AS reach_at, NULL::bigint AS reach_job, l.nominal_at, l.due_at, l.version, l.priority::integer,
    l.attempt, l.reason, l.error, l.state, NULL::smallint AS outcome, NULL::timestamptz AS finished_at, j.name, l.job_id
FROM live l
LEFT JOIN noonmark.job j ON j.shard = $1 AND j.job_id = $2
WHERE l.state = ANY ($6::text[])
ORDER BY l.nominal_at DESC
LIMIT $5
