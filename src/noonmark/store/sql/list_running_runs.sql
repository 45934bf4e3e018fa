-- Runs of a tenant that workers have, newest nominal time first: $1 tenant, before ($2 nominal time, $3 job), not before
-- $4, at most $5, with $6 in the error of their last attempt, for the reasons $7, of jobs with the labels $8. They are
-- read from the grants, of which there are no more than workers can do at once.
SELECT NULL::timestamptz AS reach_at, NULL::bigint AS reach_job, r.nominal_at, r.due_at, r.version, r.priority::integer,
    r.attempt, r.reason, r.error, 'running' AS state, NULL::smallint AS outcome, NULL::timestamptz AS finished_at, j.name,
    r.job_id
FROM noonmark.grant g
CROSS JOIN LATERAL unnest(g.job_ids, g.nominals_at, g.attempts) AS h (job_id, nominal_at, attempt)
JOIN noonmark.run r
    ON r.shard = g.shard AND r.nominal_at = h.nominal_at AND r.job_id = h.job_id AND r.attempt + 1 = h.attempt
LEFT JOIN noonmark.job j ON j.shard = r.shard AND j.job_id = r.job_id
WHERE r.tenant_id = $1 AND (h.nominal_at, h.job_id) < ($2, $3) AND h.nominal_at >= $4
    AND ($6::text IS NULL OR position(lower($6) IN lower(r.error)) > 0)
    AND ($7::smallint[] IS NULL OR r.reason = ANY ($7))
    AND ($8::text[] IS NULL OR j.labels @> $8)
ORDER BY r.nominal_at DESC, r.job_id DESC
LIMIT $5
