-- By name; $1 is the one that the caller may see, or nothing for all.
SELECT t.tenant_id, t.name, t.weight, t.created_at
FROM noonmark.tenant t
WHERE ($1::integer IS NULL OR t.tenant_id = $1) AND t.name COLLATE "C" > $2
ORDER BY t.name COLLATE "C"
LIMIT $3
