-- The secret of now stays good until $4; one that was already on its way out goes at once.
UPDATE noonmark.api_key SET old_digest = digest, old_until = $4, digest = $2, rotated_at = $3 WHERE key_id = $1
