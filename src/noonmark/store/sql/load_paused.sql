-- Which of these jobs are paused. OFFSET 0 keeps the keys outside of the join.
SELECT k.job_id
FROM unnest($2::bigint[]) AS k (job_id)
CROSS JOIN LATERAL (SELECT x.active FROM noonmark.job x WHERE x.shard = $1 AND x.job_id = k.job_id OFFSET 0) AS j
WHERE NOT j.active
