-- One run, wherever it stands: live, ended, or dead with its history gone. $1 shard, $2 job, $3 nominal time, $4 tenant.
WITH live AS (
    SELECT r.nominal_at, r.due_at, r.version, r.priority, r.attempt, r.reason, r.error, CASE
            WHEN EXISTS (
                SELECT
                FROM noonmark.grant g, unnest(g.job_ids, g.nominals_at, g.attempts) AS held (job_id, nominal_at, attempt)
                WHERE g.shard = $1 AND held.job_id = $2 AND held.nominal_at = $3 AND held.attempt = r.attempt + 1
            ) THEN 'running'
            WHEN r.parked THEN 'parked'
            WHEN r.attempt > 0 AND r.due_at > now() THEN 'retrying'
            ELSE 'waiting'
        END AS state
    FROM noonmark.run r
    WHERE r.shard = $1 AND r.nominal_at = $3 AND r.job_id = $2 AND r.tenant_id = $4
), found AS (
    SELECT 1 AS rank, l.nominal_at, l.due_at, l.version, l.priority::integer, l.attempt, l.reason, l.error, l.state,
        NULL::smallint AS outcome, NULL::timestamptz AS finished_at
    FROM live l
    UNION ALL
    (
        SELECT 2, a.nominal_at, a.due_at, a.version, NULL, a.attempt, a.reason, a.error, NULL, a.outcome, a.finished_at
        FROM noonmark.attempt a
        WHERE a.shard = $1 AND a.job_id = $2 AND a.nominal_at = $3 AND a.tenant_id = $4 AND a.final
        ORDER BY a.attempt DESC, a.finished_at DESC
        LIMIT 1
    )
    UNION ALL
    SELECT 3, d.nominal_at, d.nominal_at, d.version, d.priority, d.attempt, d.reason, d.error, 'dead', NULL, d.died_at
    FROM noonmark.dead d
    WHERE d.shard = $1 AND d.job_id = $2 AND d.nominal_at = $3 AND d.tenant_id = $4
)
SELECT f.nominal_at, f.due_at, f.version, f.priority, f.attempt, f.reason, f.error, f.state, f.outcome, f.finished_at,
    j.name AS job_name
FROM found f
LEFT JOIN noonmark.job j ON j.shard = $1 AND j.job_id = $2
ORDER BY f.rank
LIMIT 1
