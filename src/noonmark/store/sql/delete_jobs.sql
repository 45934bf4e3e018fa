-- Jobs by key, with what they were told to skip.
WITH skips AS (
    DELETE FROM noonmark.job_skip s
    USING unnest($1::smallint[], $2::bigint[]) AS k (shard, job_id)
    WHERE s.shard = k.shard AND s.job_id = k.job_id
)
DELETE FROM noonmark.job j
USING unnest($1::smallint[], $2::bigint[]) AS k (shard, job_id)
WHERE j.shard = k.shard AND j.job_id = k.job_id
