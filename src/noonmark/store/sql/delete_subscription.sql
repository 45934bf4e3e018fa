DELETE FROM noonmark.subscription WHERE tenant_id = $1 AND subscription_id = $2
