-- Dead letters of a job, newest nominal time first, which is the order of their key: $1 shard, $2 job, before the nominal
-- time $3, died from $4 until $5, at most $6 rows read and $7 answered, with $8 in their error, for the reasons $9. Where
-- the walk was cut short, the first three columns are the place down to which it is complete.
WITH walked AS MATERIALIZED (
    SELECT d.shard, d.job_id, d.nominal_at, d.died_at, d.version, d.attempt, d.reason, d.error, d.input
    FROM noonmark.dead d
    WHERE d.shard = $1 AND d.job_id = $2 AND d.nominal_at < $3
    ORDER BY d.nominal_at DESC
    LIMIT $6
), reach AS (
    SELECT w.died_at, w.job_id, w.nominal_at
    FROM walked w
    WHERE (SELECT count(*) FROM walked) >= $6
    ORDER BY w.nominal_at
    LIMIT 1
), found AS (
    SELECT w.*
    FROM walked w
    WHERE w.died_at >= $4 AND w.died_at < $5
        AND ($8::text IS NULL OR position(lower($8) IN lower(w.error)) > 0)
        AND ($9::smallint[] IS NULL OR w.reason = ANY ($9))
    ORDER BY w.nominal_at DESC
    LIMIT $7
)
SELECT r.died_at AS reach_at, r.job_id AS reach_job, r.nominal_at AS reach_nominal, f.shard, f.job_id, f.nominal_at,
    f.died_at, f.version, f.attempt, f.reason, f.error, f.input
FROM (SELECT) AS once
LEFT JOIN reach r ON true
LEFT JOIN found f ON true
ORDER BY f.nominal_at DESC
