-- Dead letters of one job of a tenant: $2 shard, $3 job, after the nominal time $4, oldest first, at most $5.
SELECT d.shard, d.job_id, d.nominal_at, d.died_at, d.version, d.attempt, d.reason, d.error, d.input
FROM noonmark.dead d
WHERE d.tenant_id = $1 AND d.shard = $2 AND d.job_id = $3 AND d.nominal_at > $4
ORDER BY d.nominal_at
LIMIT $5
