-- The runs of a job, newest nominal time first: $1 shard, $2 job, before $3, live ones in the states $4, ended ones with
-- the outcomes $5, at most $6. A redriven run is live again, so its earlier end is left out.
WITH held AS MATERIALIZED (
    SELECT h.nominal_at, h.attempt
    FROM noonmark.grant g, unnest(g.job_ids, g.nominals_at, g.attempts) AS h (job_id, nominal_at, attempt)
    WHERE g.shard = $1 AND h.job_id = $2
), live AS (
    SELECT r.nominal_at, r.due_at, r.version, r.priority, r.attempt, r.reason, r.error, CASE
            WHEN EXISTS (SELECT FROM held h WHERE h.nominal_at = r.nominal_at AND h.attempt = r.attempt + 1)
                THEN 'running'
            WHEN r.parked THEN 'parked'
            WHEN r.attempt > 0 AND r.due_at > now() THEN 'retrying'
            ELSE 'waiting'
        END AS state
    FROM noonmark.run r
    WHERE r.shard = $1 AND r.nominal_at < $3 AND r.job_id = $2 AND cardinality($4::text[]) > 0
    ORDER BY r.nominal_at DESC
), ended AS (
    SELECT DISTINCT ON (a.nominal_at)
        a.nominal_at, a.due_at, a.version, a.attempt, a.reason, a.error, a.outcome, a.finished_at
    FROM noonmark.attempt a
    WHERE a.shard = $1 AND a.job_id = $2 AND a.nominal_at < $3 AND a.final AND cardinality($5::smallint[]) > 0
    ORDER BY a.nominal_at DESC, a.attempt DESC, a.finished_at DESC
), found AS (
    (
        SELECT l.nominal_at, l.due_at, l.version, l.priority::integer, l.attempt, l.reason, l.error, l.state,
            NULL::smallint AS outcome, NULL::timestamptz AS finished_at
        FROM live l
        WHERE l.state = ANY ($4::text[])
        LIMIT $6
    )
    UNION ALL
    (
        SELECT e.nominal_at, e.due_at, e.version, NULL, e.attempt, e.reason, e.error, NULL, e.outcome, e.finished_at
        FROM ended e
        WHERE e.outcome = ANY ($5::smallint[]) AND NOT EXISTS (
            SELECT FROM noonmark.run r WHERE r.shard = $1 AND r.nominal_at = e.nominal_at AND r.job_id = $2
        )
        LIMIT $6
    )
)
SELECT f.nominal_at, f.due_at, f.version, f.priority, f.attempt, f.reason, f.error, f.state, f.outcome, f.finished_at
FROM found f
ORDER BY f.nominal_at DESC
LIMIT $6
