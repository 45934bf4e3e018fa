SELECT t.tenant_id, t.name, t.weight FROM noonmark.tenant t
