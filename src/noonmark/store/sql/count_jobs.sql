-- How many jobs of a tenant, $1, have names from $3 and below $4, are active or not ($5), and have one of the policies
-- $6; NULL asks for nothing. $2 is the number of shards.
SELECT count(*)
FROM generate_series(0, $2::integer - 1) AS shards (shard)
JOIN noonmark.job j ON j.shard = shards.shard::smallint AND j.tenant_id = $1 AND j.name >= $3 AND j.name < $4
WHERE ($5::boolean IS NULL OR j.active = $5)
    AND ($6::integer[] IS NULL OR j.policy_id = ANY ($6))
