-- Which of these runs have ended already, such as one that was cancelled ahead of its time.
SELECT a.job_id, a.nominal_at
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
JOIN noonmark.attempt a ON a.shard = k.shard AND a.job_id = k.job_id AND a.nominal_at = k.nominal_at AND a.final
