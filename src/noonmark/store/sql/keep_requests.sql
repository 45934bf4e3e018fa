-- Requests that were carried out. A key that has expired may still have its row.
INSERT INTO noonmark.request (tenant_id, key, shard, fingerprint, expires_at, answer)
SELECT k.tenant_id, k.key, k.shard, k.fingerprint, k.expires_at, k.answer::json
FROM unnest($1::integer[], $2::text[], $3::smallint[], $4::bytea[], $5::timestamptz[], $6::text[])
    AS k (tenant_id, key, shard, fingerprint, expires_at, answer)
ON CONFLICT (tenant_id, key, shard) DO UPDATE
SET fingerprint = excluded.fingerprint, expires_at = excluded.expires_at, answer = excluded.answer
