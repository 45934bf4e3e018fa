-- Ended runs of a job, newest nominal time first: $1 shard, $2 job, before the nominal time $3, not before $4, at most $5
-- ends read and $6 answered, with the outcomes $7, ended from $8 until $9, with $10 in their error, for the reasons $11.
-- See list_ended_runs.sql.
WITH walked AS MATERIALIZED (
    SELECT a.shard, a.job_id, a.nominal_at, a.attempt, a.due_at, a.version, a.reason, a.error, a.outcome, a.finished_at
    FROM noonmark.attempt a
    WHERE a.shard = $1 AND a.job_id = $2 AND a.final AND a.nominal_at < $3 AND a.nominal_at >= $4
        AND a.finished_at >= date_trunc('day', $8::timestamptz, 'UTC')
        AND a.finished_at < date_trunc('day', $9::timestamptz, 'UTC') + interval '1 day'
    ORDER BY a.nominal_at DESC
    FETCH FIRST $5 ROWS WITH TIES
), reach AS (
    SELECT w.nominal_at, w.job_id
    FROM walked w
    WHERE (SELECT count(*) FROM walked) >= $5
    ORDER BY w.nominal_at, w.job_id
    LIMIT 1
), ended AS (
    SELECT DISTINCT ON (w.nominal_at, w.job_id) w.*
    FROM walked w
    ORDER BY w.nominal_at DESC, w.job_id DESC, w.attempt DESC, w.finished_at DESC
), found AS (
    SELECT e.nominal_at, e.due_at, e.version, e.attempt, e.reason, e.error, e.outcome, e.finished_at, j.name, e.job_id
    FROM ended e
    LEFT JOIN noonmark.job j ON j.shard = e.shard AND j.job_id = e.job_id
    WHERE e.outcome = ANY ($7::smallint[]) AND e.finished_at >= $8 AND e.finished_at < $9
        AND ($10::text IS NULL OR position(lower($10) IN lower(e.error)) > 0)
        AND ($11::smallint[] IS NULL OR e.reason = ANY ($11))
        AND NOT EXISTS (
            SELECT FROM noonmark.run r
            WHERE r.shard = e.shard AND r.nominal_at = e.nominal_at AND r.job_id = e.job_id
            OFFSET 0 -- asked row by row, and not as a join with all live runs
        )
    ORDER BY e.nominal_at DESC, e.job_id DESC
    LIMIT $6
)
SELECT r.nominal_at AS reach_at, r.job_id AS reach_job, f.nominal_at, f.due_at, f.version, NULL::integer AS priority,
    f.attempt, f.reason, f.error, NULL::text AS state, f.outcome, f.finished_at, f.name, f.job_id
FROM (SELECT) AS once
LEFT JOIN reach r ON true
LEFT JOIN found f ON true
ORDER BY f.nominal_at DESC, f.job_id DESC
