SELECT t.tenant_id, t.name, t.weight, t.created_at FROM noonmark.tenant t WHERE t.name = $1 FOR NO KEY UPDATE
