-- Jobs of a tenant by id. $1 tenant, $2 shards and $3 job ids side by side.
SELECT j.job_id, j.version, j.active, j.created_at, j.updated_at, v.spec, s.text AS schedule, j.planned_from, j.ends_at,
    j.link_at, CASE WHEN j.skips THEN ARRAY(
        SELECT o.nominal_at FROM noonmark.job_skip o WHERE o.shard = j.shard AND o.job_id = j.job_id ORDER BY o.nominal_at
    ) END AS skips, j.jitter_ms
FROM unnest($2::smallint[], $3::bigint[]) AS wanted (shard, job_id)
JOIN noonmark.job j ON j.shard = wanted.shard AND j.job_id = wanted.job_id AND j.tenant_id = $1
JOIN noonmark.job_version v ON v.shard = j.shard AND v.job_id = j.job_id AND v.version = j.version
LEFT JOIN noonmark.schedule s ON s.schedule_id = j.schedule_id
