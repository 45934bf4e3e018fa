INSERT INTO noonmark.tenant (name, weight, created_at) VALUES ($1, $2, $3)
ON CONFLICT (name) DO NOTHING
RETURNING tenant_id
