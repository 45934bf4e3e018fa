-- The troubles of a shard's watched jobs, for its new owner.
SELECT t.job_id, t.since, t.silent_for FROM noonmark.trouble t WHERE t.shard = $1
