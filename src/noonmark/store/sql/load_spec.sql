SELECT v.spec::text FROM noonmark.job_version v WHERE v.shard = $1 AND v.job_id = $2 AND v.version = $3
