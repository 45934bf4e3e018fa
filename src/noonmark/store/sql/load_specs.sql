-- The definitions of jobs in given versions: shards, jobs and versions side by side. OFFSET 0 keeps the keys outside of the
-- join.
SELECT k.job_id, v.spec::text
FROM unnest($1::smallint[], $2::bigint[], $3::integer[]) AS k (shard, job_id, version)
CROSS JOIN LATERAL (
    SELECT x.spec FROM noonmark.job_version x
    WHERE x.shard = k.shard AND x.job_id = k.job_id AND x.version = k.version
    OFFSET 0
) AS v
