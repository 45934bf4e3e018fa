-- Jobs of a tenant by id. $1 tenant, $2 shards and $3 job ids side by side.
SELECT r.job_id, r.version, r.active, r.created_at, r.updated_at, r.spec, r.schedule, r.planned_from, r.ends_at, r.link_at,
    r.skips, r.jitter_ms
FROM unnest($2::smallint[], $3::bigint[]) AS wanted (shard, job_id)
JOIN noonmark.job_record r ON r.shard = wanted.shard AND r.job_id = wanted.job_id AND r.tenant_id = $1
