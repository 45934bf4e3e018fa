-- Jobs, with their skipped occurrences. Found key by key, then deleted by their places: a join of keys and jobs could turn
-- round.
WITH skips AS (
    DELETE FROM noonmark.job_skip s
    WHERE s.ctid = ANY (ARRAY(
        SELECT x.ctid
        FROM unnest($1::smallint[], $2::bigint[]) AS k (shard, job_id)
        CROSS JOIN LATERAL (
            SELECT o.ctid FROM noonmark.job_skip o WHERE o.shard = k.shard AND o.job_id = k.job_id OFFSET 0
        ) AS x
    ))
)
DELETE FROM noonmark.job j
WHERE j.ctid = ANY (ARRAY(
    SELECT x.ctid
    FROM unnest($1::smallint[], $2::bigint[]) AS k (shard, job_id)
    CROSS JOIN LATERAL (
        SELECT o.ctid FROM noonmark.job o
        WHERE o.shard = k.shard AND o.job_id BETWEEN k.job_id AND k.job_id
        ORDER BY o.job_id
        LIMIT 1
    ) AS x
))
