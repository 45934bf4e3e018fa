SELECT fingerprint, status, headers::text, body
FROM noonmark.idempotency
WHERE tenant_id = $1 AND key = $2
