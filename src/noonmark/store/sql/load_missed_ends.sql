-- Schedules that ended for some jobs while their shard had no owner: of the shards $1, between $2 (less the longest jitter)
-- and $3; with the most occurrences that any of those jobs catches up.
SELECT j.shard, j.schedule_id, j.ends_at, max(j.catch_up)
FROM noonmark.job j
WHERE j.shard = ANY ($1::smallint[]) AND j.active AND j.ends_at > $2::timestamptz - interval '1 day' AND j.ends_at <= $3
    AND j.schedule_id IS NOT NULL AND j.catch_up > 0
GROUP BY j.shard, j.schedule_id, j.ends_at
