-- Some versions of a job: $1 shard, $2 job, $3 versions.
SELECT v.version, v.created_at, v.spec
FROM noonmark.job_version v
WHERE v.shard = $1 AND v.job_id = $2 AND v.version = ANY ($3::integer[])
