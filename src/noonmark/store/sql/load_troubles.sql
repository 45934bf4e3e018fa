-- What a new owner must know of a shard's watched jobs.
SELECT t.job_id, t.since, t.silent_for FROM noonmark.trouble t WHERE t.shard = $1
