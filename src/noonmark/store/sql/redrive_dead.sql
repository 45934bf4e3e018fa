-- Dead letters live again: their attempts go on counting, their failures begin anew. Found key by key, then
-- deleted by their places: a join of keys and dead letters could turn round.
WITH taken AS (
    DELETE FROM noonmark.dead d
    WHERE d.ctid = ANY (ARRAY(
        SELECT (
            SELECT x.ctid FROM noonmark.dead x
            WHERE x.shard = k.shard AND x.job_id = k.job_id AND x.nominal_at BETWEEN k.nominal_at AND k.nominal_at
            ORDER BY x.nominal_at -- picks the primary key
            LIMIT 1
        )
        FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
    )) AND d.tenant_id + 0 = $4 -- never by walking the tenant's
    RETURNING d.*
)
INSERT INTO noonmark.run
    (shard, nominal_at, job_id, due_at, tenant_id, version, policy_id, priority, attempt, failures, reason, input)
SELECT t.shard, t.nominal_at, t.job_id, $5, t.tenant_id, t.version, t.policy_id, t.priority, t.attempt, 0, $6, t.input
FROM taken t
RETURNING job_id, nominal_at, due_at, tenant_id, version, policy_id, priority, attempt, failures, reason,
    noonmark.input_in_memory(input) AS input, sleeps
