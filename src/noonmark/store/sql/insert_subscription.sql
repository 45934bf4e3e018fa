-- One subscription; no row if the tenant has one of that name.
INSERT INTO noonmark.subscription (tenant_id, name, events, job_id, labels, kind, url, secret, late_after_s, expect_every_s,
    grace_s, quiet_s, active, delivery_job, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $15)
ON CONFLICT DO NOTHING
RETURNING subscription_id
