UPDATE noonmark.tenant SET weight = $2 WHERE tenant_id = $1
