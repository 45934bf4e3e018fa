-- Why a run ended: $1 shard, $2 job, $3 nominal time.
SELECT a.reason
FROM noonmark.attempt a
WHERE a.shard = $1 AND a.job_id = $2 AND a.nominal_at = $3 AND a.final
ORDER BY a.finished_at DESC
LIMIT 1
