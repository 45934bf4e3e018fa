-- Every subscription that is switched on.
SELECT s.subscription_id, s.tenant_id, s.job_id, s.events, s.quiet_s, s.late_after_s
FROM noonmark.subscription s
WHERE s.active
