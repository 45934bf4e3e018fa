-- Waiting runs of paused jobs sleep until those are resumed. $1 the distinct shards, $2 the jobs; $3 and $4 the runs that stay.
UPDATE noonmark.run r
SET parked = true
WHERE r.shard = ANY ($1::smallint[]) AND r.job_id = ANY ($2::bigint[])
    AND (r.job_id, r.nominal_at) NOT IN (SELECT * FROM unnest($3::bigint[], $4::timestamptz[]))
