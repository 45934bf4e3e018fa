-- The occurrences that a job skips from now on: $1 shard, $2 job, $3 their nominal times.
WITH gone AS (
    DELETE FROM noonmark.job_skip s WHERE s.shard = $1 AND s.job_id = $2 AND s.nominal_at <> ALL ($3::timestamptz[])
), new AS (
    INSERT INTO noonmark.job_skip (shard, job_id, nominal_at)
    SELECT $1, $2, k.nominal_at FROM unnest($3::timestamptz[]) AS k (nominal_at)
    ON CONFLICT DO NOTHING
)
UPDATE noonmark.job SET skips = cardinality($3::timestamptz[]) > 0 WHERE shard = $1 AND job_id = $2
