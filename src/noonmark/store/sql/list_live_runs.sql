-- Live runs of a tenant, newest nominal time first: $1 tenant, $2 how many shards there are, before ($3 nominal time, $4
-- job), not before $5, at most $6 rows read in each shard and $7 answered, in the states $8, with $9 in their error, for
-- the reasons $10, of jobs with the labels $11. The walk takes the runs of everybody by the key of each shard; where it
-- was cut short, the first two columns are the key down to which it is complete.
WITH walked AS MATERIALIZED (
    SELECT w.*
    FROM generate_series(0, $2::integer - 1) AS s (shard)
    CROSS JOIN LATERAL (
        SELECT r.shard, r.job_id, r.nominal_at, r.due_at, r.tenant_id, r.version, r.priority, r.attempt, r.reason, r.parked,
            r.error, row_number() OVER (ORDER BY r.nominal_at DESC, r.job_id DESC) AS place
        FROM noonmark.run r
        WHERE r.shard = s.shard::smallint AND (r.nominal_at, r.job_id) < ($3, $4) AND r.nominal_at >= $5
        ORDER BY r.nominal_at DESC, r.job_id DESC
        LIMIT $6
    ) w
), reach AS (
    SELECT w.nominal_at, w.job_id
    FROM walked w
    WHERE w.place = $6
    ORDER BY w.nominal_at DESC, w.job_id DESC
    LIMIT 1
), held AS MATERIALIZED (
    SELECT h.job_id, h.nominal_at, h.attempt
    FROM noonmark.grant g, unnest(g.job_ids, g.nominals_at, g.attempts) AS h (job_id, nominal_at, attempt)
), live AS (
    SELECT w.*, CASE
            WHEN (w.job_id, w.nominal_at, w.attempt + 1) IN (SELECT h.job_id, h.nominal_at, h.attempt FROM held h)
                THEN 'running'
            WHEN w.parked THEN 'parked'
            WHEN w.attempt > 0 AND w.due_at > now() THEN 'retrying'
            ELSE 'waiting'
        END AS state
    FROM walked w
    WHERE w.tenant_id = $1 AND ($9::text IS NULL OR position(lower($9) IN lower(w.error)) > 0)
        AND ($10::smallint[] IS NULL OR w.reason = ANY ($10))
), found AS (
    SELECT l.nominal_at, l.due_at, l.version, l.priority::integer, l.attempt, l.reason, l.error, l.state, j.name, l.job_id
    FROM live l
    LEFT JOIN noonmark.job j ON j.shard = l.shard AND j.job_id = l.job_id
    WHERE l.state = ANY ($8::text[]) AND ($11::text[] IS NULL OR j.labels @> $11)
    ORDER BY l.nominal_at DESC, l.job_id DESC
    LIMIT $7
)
SELECT r.nominal_at AS reach_at, r.job_id AS reach_job, f.nominal_at, f.due_at, f.version, f.priority, f.attempt, f.reason,
    f.error, f.state, NULL::smallint AS outcome, NULL::timestamptz AS finished_at, f.name, f.job_id
FROM (SELECT) AS once
LEFT JOIN reach r ON true
LEFT JOIN found f ON true
ORDER BY f.nominal_at DESC, f.job_id DESC
