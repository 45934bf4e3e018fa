UPDATE noonmark.idempotency
SET status = $4, headers = $5, body = $6
WHERE tenant_id = $1 AND key = $2 AND claim = $3 AND status IS NULL
