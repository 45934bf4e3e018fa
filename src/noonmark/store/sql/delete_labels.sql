-- Labels that a job no longer has: $1 shard, $2 tenant, $3 its name, $4 the labels.
DELETE FROM noonmark.job_label l
WHERE l.shard = $1 AND l.tenant_id = $2 AND l.label = ANY ($4::text[]) AND l.name = $3
