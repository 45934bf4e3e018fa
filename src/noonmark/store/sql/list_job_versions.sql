-- The versions of a job, newest first: $1 shard, $2 job, below version $3, at most $4.
SELECT v.version, v.created_at, v.spec
FROM noonmark.job_version v
WHERE v.shard = $1 AND v.job_id = $2 AND v.version < $3
ORDER BY v.version DESC
LIMIT $4
