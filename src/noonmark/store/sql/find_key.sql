SELECT k.key_id, k.prefix, k.name, k.role, k.tenant_id, t.name AS tenant, k.created_at, k.created_by, k.expires_at,
    k.rotated_at, k.revoked_at, k.last_used_at, k.digest, k.old_digest, k.old_until
FROM noonmark.api_key k LEFT JOIN noonmark.tenant t ON t.tenant_id = k.tenant_id
WHERE k.prefix = $1
