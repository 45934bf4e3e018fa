-- The runs of a delivery job, newest first: $1 shard, $2 job, before $3, at most $4; $5 is the outcome of a success. Each
-- comes with its notice: the input of a run that waits or is dead, the result of one that was delivered.
WITH live AS (
    SELECT r.nominal_at, 'waiting' AS state, r.input ->> 'id' AS event, r.input ->> 'type' AS type, r.attempt,
        NULL::timestamptz AS finished_at, r.due_at AS next_at, r.error
    FROM noonmark.run r
    WHERE r.shard = $1 AND r.nominal_at < $3 AND r.job_id = $2
    ORDER BY r.nominal_at DESC
    LIMIT $4
), ended AS (
    SELECT DISTINCT ON (a.nominal_at) a.nominal_at,
        CASE WHEN a.outcome = $5 THEN 'delivered' WHEN d.job_id IS NOT NULL THEN 'dead' ELSE 'stopped' END AS state,
        coalesce(a.result ->> 'event', d.input ->> 'id') AS event,
        coalesce(a.result ->> 'type', d.input ->> 'type') AS type,
        a.attempt, a.finished_at, NULL::timestamptz AS next_at, a.error
    FROM noonmark.attempt a
    LEFT JOIN noonmark.dead d ON d.shard = a.shard AND d.job_id = a.job_id AND d.nominal_at = a.nominal_at
    WHERE a.shard = $1 AND a.job_id = $2 AND a.nominal_at < $3 AND a.final AND NOT EXISTS (
        SELECT FROM noonmark.run r WHERE r.shard = $1 AND r.nominal_at = a.nominal_at AND r.job_id = $2
    )
    ORDER BY a.nominal_at DESC, a.attempt DESC, a.finished_at DESC
    LIMIT $4
)
SELECT f.nominal_at, f.state, f.event, f.type, f.attempt, f.finished_at, f.next_at, f.error
FROM (SELECT * FROM live UNION ALL SELECT * FROM ended) f
ORDER BY f.nominal_at DESC
LIMIT $4
