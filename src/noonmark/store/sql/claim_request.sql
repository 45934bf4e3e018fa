-- Nothing is returned if the key is in use: by an answer that is kept, or by a request that is being carried out. The
-- commit is not waited for: that of the request itself comes later in the log, so it cannot be durable without this one.
INSERT INTO noonmark.idempotency AS known (tenant_id, key, fingerprint, claim, claimed_until, expires_at)
VALUES ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 second', clock_timestamp() + $6 * interval '1 second')
ON CONFLICT (tenant_id, key) DO UPDATE
SET fingerprint = excluded.fingerprint,
    claim = excluded.claim,
    claimed_until = excluded.claimed_until,
    expires_at = excluded.expires_at,
    status = NULL,
    headers = NULL,
    body = NULL
WHERE known.expires_at <= clock_timestamp()
   OR (known.status IS NULL AND known.claimed_until <= clock_timestamp() AND known.fingerprint = excluded.fingerprint)
RETURNING set_config('synchronous_commit', 'off', true) = 'off'
