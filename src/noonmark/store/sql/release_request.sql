DELETE FROM noonmark.idempotency
WHERE tenant_id = $1 AND key = $2 AND claim = $3 AND status IS NULL
