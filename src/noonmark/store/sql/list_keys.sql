SELECT k.key_id, k.prefix, k.name, k.role, k.tenant_id, t.name AS tenant, k.created_at, k.created_by, k.expires_at,
    k.rotated_at, k.revoked_at, k.last_used_at, k.digest, k.old_digest, k.old_until
FROM noonmark.api_key k LEFT JOIN noonmark.tenant t ON t.tenant_id = k.tenant_id
WHERE ($1::integer IS NULL OR k.tenant_id = $1) AND k.key_id > $2
ORDER BY k.key_id
LIMIT $3
