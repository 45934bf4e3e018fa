-- Occurrences that were made ahead of their time, before the job changed; granted ones stay.
DELETE FROM noonmark.run r
WHERE r.shard = $1 AND r.job_id = $2 AND r.nominal_at > $3 AND r.reason = $4 AND NOT r.nominal_at = ANY ($5::timestamptz[])
