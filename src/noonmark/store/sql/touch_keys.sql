UPDATE noonmark.api_key k
SET last_used_at = u.at
FROM unnest($1::integer[], $2::timestamptz[]) AS u (key_id, at)
WHERE k.key_id = u.key_id AND (k.last_used_at IS NULL OR k.last_used_at < u.at)
