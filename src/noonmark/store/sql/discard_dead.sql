-- Dead letters that nobody wants back; the history of their attempts stays.
DELETE FROM noonmark.dead d
USING unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
WHERE d.shard = k.shard AND d.job_id = k.job_id AND d.nominal_at = k.nominal_at
    AND d.tenant_id + 0 = $4 -- found by key, never by walking the tenant's
RETURNING d.job_id, d.nominal_at
