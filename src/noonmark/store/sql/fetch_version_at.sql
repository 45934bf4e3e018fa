-- The definition of a job that was in force at a time: $1 shard, $2 job, $3 the time.
SELECT v.version, v.created_at, v.spec::text
FROM noonmark.job_version v
WHERE v.shard = $1 AND v.job_id = $2 AND v.created_at <= $3
ORDER BY v.version DESC
LIMIT 1
