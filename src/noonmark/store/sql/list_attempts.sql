-- The ended attempts of a run, first to last: $1 shard, $2 job, $3 nominal time, $4 tenant, at most $5.
SELECT a.attempt, a.outcome, a.reason, a.final, a.worker_id, a.due_at, a.granted_at, a.started_at, a.finished_at, a.error,
    a.result
FROM noonmark.attempt a
WHERE a.shard = $1 AND a.job_id = $2 AND a.nominal_at = $3 AND a.tenant_id = $4
ORDER BY a.attempt, a.finished_at
LIMIT $5
