-- The labels of jobs of one tenant, $1: shards, names and labels side by side.
INSERT INTO noonmark.job_label (shard, tenant_id, label, name)
SELECT k.shard, $1, k.label, k.name
FROM unnest($2::smallint[], $3::text[], $4::text[]) AS k (shard, name, label)
ON CONFLICT DO NOTHING
