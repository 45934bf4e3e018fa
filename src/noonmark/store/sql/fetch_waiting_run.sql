-- The number of the last ended attempt of a live run: $1 shard, $2 nominal time, $3 job.
SELECT r.attempt FROM noonmark.run r WHERE r.shard = $1 AND r.nominal_at = $2 AND r.job_id = $3
