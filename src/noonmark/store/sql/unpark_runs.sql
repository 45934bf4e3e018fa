-- They wait again; those beyond their shard's watermark sleep. $1 the distinct shards with $2 their watermarks, $3 the jobs.
UPDATE noonmark.run r
SET parked = false, sleeps = r.due_at > w.watermark
FROM unnest($1::smallint[], $2::timestamptz[]) AS w (shard, watermark)
WHERE r.shard = w.shard AND r.job_id = ANY ($3::bigint[]) AND r.parked
