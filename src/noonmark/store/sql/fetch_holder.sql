-- Which worker has a run, and since when: $1 shard, $2 job, $3 nominal time.
SELECT g.worker_id, g.granted_at
FROM noonmark.grant g, unnest(g.job_ids, g.nominals_at, g.attempts) AS h (job_id, nominal_at, attempt)
JOIN noonmark.run r ON r.shard = $1 AND r.nominal_at = $3 AND r.job_id = $2
WHERE g.shard = $1 AND h.job_id = $2 AND h.nominal_at = $3 AND h.attempt = r.attempt + 1
