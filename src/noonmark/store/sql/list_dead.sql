-- Dead letters of a tenant, the latest death first: $1 tenant, before ($2 death, $3 job, $4 nominal time), not before $5, at
-- most $6 rows read and $7 answered, with $8 in their error, for the reasons $9. Where the walk was cut short, the first
-- three columns are the key down to which it is complete.
WITH walked AS MATERIALIZED (
    SELECT d.shard, d.job_id, d.nominal_at, d.died_at, d.version, d.attempt, d.reason, d.error, d.input
    FROM noonmark.dead d
    WHERE d.tenant_id = $1 AND (d.died_at, d.job_id, d.nominal_at) < ($2, $3, $4) AND d.died_at >= $5
    ORDER BY d.died_at DESC, d.job_id DESC, d.nominal_at DESC
    LIMIT $6
), reach AS (
    SELECT w.died_at, w.job_id, w.nominal_at
    FROM walked w
    WHERE (SELECT count(*) FROM walked) >= $6
    ORDER BY w.died_at, w.job_id, w.nominal_at
    LIMIT 1
), found AS (
    SELECT w.*
    FROM walked w
    WHERE ($8::text IS NULL OR position(lower($8) IN lower(w.error)) > 0)
        AND ($9::smallint[] IS NULL OR w.reason = ANY ($9))
    ORDER BY w.died_at DESC, w.job_id DESC, w.nominal_at DESC
    LIMIT $7
)
SELECT r.died_at AS reach_at, r.job_id AS reach_job, r.nominal_at AS reach_nominal, f.shard, f.job_id, f.nominal_at,
    f.died_at, f.version, f.attempt, f.reason, f.error, f.input
FROM (SELECT) AS once
LEFT JOIN reach r ON true
LEFT JOIN found f ON true
ORDER BY f.died_at DESC, f.job_id DESC, f.nominal_at DESC
