INSERT INTO noonmark.api_key (prefix, digest, name, role, tenant_id, created_by, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (prefix) DO NOTHING
RETURNING key_id
