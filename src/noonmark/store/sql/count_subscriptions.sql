SELECT count(*) FROM noonmark.subscription s WHERE s.tenant_id = $1
