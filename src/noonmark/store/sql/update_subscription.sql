-- Changes a subscription of a tenant: $1 tenant, $2 subscription, then its new values.
UPDATE noonmark.subscription
SET events = $3, job_id = $4, labels = $5, kind = $6, url = $7, secret = $8, old_secret = $9, old_until = $10,
    late_after_s = $11, expect_every_s = $12, grace_s = $13, quiet_s = $14, active = $15, delivery_job = $16,
    updated_at = $17
WHERE tenant_id = $1 AND subscription_id = $2
