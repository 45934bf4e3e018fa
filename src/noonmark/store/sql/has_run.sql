SELECT EXISTS (SELECT FROM noonmark.run r WHERE r.shard = $1 AND r.nominal_at = $2 AND r.job_id = $3)
