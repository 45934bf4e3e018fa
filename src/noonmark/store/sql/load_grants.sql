-- All grants of a shard, for its new owner.
SELECT g.shard, g.grant_id, g.worker_id, g.granted_at, g.job_ids, g.nominals_at, g.attempts
FROM noonmark.grant g
WHERE g.shard = $1
