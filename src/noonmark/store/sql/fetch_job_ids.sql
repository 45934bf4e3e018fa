-- Which of these names are jobs of the tenant. $1 tenant, $2 shards and $3 names side by side.
SELECT j.job_id, j.name, j.active
FROM unnest($2::smallint[], $3::text[]) AS wanted (shard, name)
JOIN noonmark.job j ON j.shard = wanted.shard AND j.tenant_id = $1 AND j.name = wanted.name
