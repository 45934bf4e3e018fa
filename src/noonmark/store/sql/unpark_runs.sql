-- They wait again; those beyond their shard's watermark sleep. $1 the distinct shards with $2 their watermarks, $3 the jobs. Each
-- shard is read once, by its part of the key.
UPDATE noonmark.run r
SET parked = false, sleeps = r.due_at > found.watermark
FROM (
    SELECT x.ctid, w.watermark
    FROM unnest($1::smallint[], $2::timestamptz[]) AS w (shard, watermark)
    CROSS JOIN LATERAL (
        SELECT o.ctid FROM noonmark.run o WHERE o.shard = w.shard AND o.job_id = ANY ($3::bigint[]) AND o.parked OFFSET 0
    ) AS x
) AS found
WHERE r.ctid = found.ctid
