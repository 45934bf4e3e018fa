-- The definitions of jobs in given versions: shards, jobs and versions side by side.
SELECT v.job_id, v.spec::text
FROM unnest($1::smallint[], $2::bigint[], $3::integer[]) AS k (shard, job_id, version)
JOIN noonmark.job_version v ON v.shard = k.shard AND v.job_id = k.job_id AND v.version = k.version
