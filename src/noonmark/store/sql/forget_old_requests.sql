-- A bounded number at a time: a node that was busy or away does not delete a week's rows in one transaction.
DELETE FROM noonmark.idempotency
WHERE (tenant_id, key) IN (
    SELECT tenant_id, key FROM noonmark.idempotency
    WHERE expires_at <= clock_timestamp()
    ORDER BY expires_at
    LIMIT 10000
    FOR UPDATE SKIP LOCKED
)
