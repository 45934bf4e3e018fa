-- Labels that jobs of one tenant, $1, no longer have: shards, names and labels side by side.
DELETE FROM noonmark.job_label l
USING unnest($2::smallint[], $3::text[], $4::text[]) AS k (shard, name, label)
WHERE l.shard = k.shard AND l.tenant_id = $1 AND l.label = k.label AND l.name = k.name
