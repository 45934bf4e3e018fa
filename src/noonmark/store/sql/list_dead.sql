-- Dead letters of a tenant after the key ($2 shard, $3 job, $4 nominal time), in the order of that key, at most $5.
SELECT d.shard, d.job_id, d.nominal_at, d.died_at, d.version, d.attempt, d.reason, d.error, d.input
FROM noonmark.dead d
WHERE d.tenant_id = $1 AND (d.shard, d.job_id, d.nominal_at) > ($2, $3, $4)
ORDER BY d.shard, d.job_id, d.nominal_at
LIMIT $5
