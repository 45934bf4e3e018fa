-- Jobs that are well again, or that nobody watches any more: $1 shards and $2 jobs side by side.
DELETE FROM noonmark.trouble t
USING unnest($1::smallint[], $2::bigint[]) AS gone (shard, job_id)
WHERE t.shard = gone.shard AND t.job_id = gone.job_id
