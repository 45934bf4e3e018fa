-- Occurrences that were made ahead of their time, before their jobs changed. $1 the distinct shards, $2 the jobs, $3 when they
-- changed; $5 and $6 the runs that stay, such as those that workers have.
DELETE FROM noonmark.run r
WHERE r.shard = ANY ($1::smallint[]) AND r.nominal_at > $3 AND r.job_id = ANY ($2::bigint[]) AND r.reason = $4
    AND (r.job_id, r.nominal_at) NOT IN (SELECT * FROM unnest($5::bigint[], $6::timestamptz[]))
