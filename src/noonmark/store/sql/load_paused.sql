-- Which of these jobs are paused.
SELECT j.job_id FROM noonmark.job j WHERE j.shard = $1 AND j.job_id = ANY ($2::bigint[]) AND NOT j.active
