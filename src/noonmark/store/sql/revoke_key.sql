UPDATE noonmark.api_key SET revoked_at = $2 WHERE key_id = $1
