INSERT INTO noonmark.job_event (shard, job_id, at, event, version)
SELECT k.shard, k.job_id, $1, $2, k.version
FROM unnest($3::smallint[], $4::bigint[], $5::integer[]) AS k (shard, job_id, version)
ON CONFLICT DO NOTHING
