-- The events of a job, the latest first: $1 shard, $2 job, until $3, at most $4.
SELECT e.at, e.event, e.version
FROM noonmark.job_event e
WHERE e.shard = $1 AND e.job_id = $2 AND e.at <= $3
ORDER BY e.at DESC
LIMIT $4
