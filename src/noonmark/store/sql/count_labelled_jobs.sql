-- The same along a label, $7: of the jobs that have it, those with all the labels $8.
SELECT count(*)
FROM generate_series(0, $2::integer - 1) AS shards (shard)
JOIN noonmark.job_label l
    ON l.shard = shards.shard::smallint AND l.tenant_id = $1 AND l.label = $7 AND l.name >= $3 AND l.name < $4
JOIN noonmark.job j ON j.shard = l.shard AND j.tenant_id = l.tenant_id AND j.name = l.name
WHERE j.labels @> $8::text[]
    AND ($5::boolean IS NULL OR j.active = $5)
    AND ($6::integer[] IS NULL OR j.policy_id = ANY ($6))
