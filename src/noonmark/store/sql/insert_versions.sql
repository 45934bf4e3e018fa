INSERT INTO noonmark.job_version (shard, job_id, version, created_at, spec)
SELECT k.shard, k.job_id, k.version, $1, k.spec::json
FROM unnest($2::smallint[], $3::bigint[], $4::integer[], $5::text[]) AS k (shard, job_id, version, spec)
