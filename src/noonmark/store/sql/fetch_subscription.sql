-- One subscription of a tenant.
SELECT s.subscription_id, s.name, s.events, s.job_id, s.labels, s.kind, s.url, s.secret, s.old_secret, s.old_until,
    s.late_after_s, s.expect_every_s, s.grace_s, s.quiet_s, s.active, s.delivery_job, s.created_at, s.updated_at
FROM noonmark.subscription s
WHERE s.tenant_id = $1 AND s.subscription_id = $2
