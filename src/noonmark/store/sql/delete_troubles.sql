-- Jobs that are well again, or no longer watched: $1 shards and $2 jobs side by side. Found key by key, then
-- deleted by their places: a join of keys and troubles could turn round.
DELETE FROM noonmark.trouble t
WHERE t.ctid = ANY (ARRAY(
    SELECT (SELECT x.ctid FROM noonmark.trouble x WHERE x.shard = k.shard AND x.job_id = k.job_id)
    FROM unnest($1::smallint[], $2::bigint[]) AS k (shard, job_id)
))
