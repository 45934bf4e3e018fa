-- What is known of a key, shard by shard. $3 is now.
SELECT r.shard, r.fingerprint, r.answer::text
FROM noonmark.request r
WHERE r.tenant_id = $1 AND r.key = $2 AND r.expires_at > $3
