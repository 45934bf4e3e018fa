UPDATE noonmark.idempotency
SET claimed_until = clock_timestamp() + $4 * interval '1 second'
WHERE tenant_id = $1 AND key = $2 AND claim = $3 AND status IS NULL
