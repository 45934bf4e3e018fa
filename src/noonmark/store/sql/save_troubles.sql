-- Watched jobs that are in trouble: $1 shards, $2 jobs and $3 since when side by side; $4 the subscriptions that got
-- a notice of their silence, as texts of arrays.
INSERT INTO noonmark.trouble (shard, job_id, since, silent_for)
SELECT t.shard, t.job_id, t.since, t.silent_for::integer[]
FROM unnest($1::smallint[], $2::bigint[], $3::timestamptz[], $4::text[]) AS t (shard, job_id, since, silent_for)
ON CONFLICT (shard, job_id) DO UPDATE SET since = excluded.since, silent_for = excluded.silent_for
