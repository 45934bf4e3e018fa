-- Which of these runs have ended already, such as one that was cancelled ahead of its time. Only the days of history in which
-- that can have been are looked into: a recurring job's run is made at most its jitter, a day, ahead of its time; any other
-- after its job was created. OFFSET 0 keeps the keys outside of the join.
SELECT k.job_id, k.nominal_at
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[]) AS k (shard, nominal_at, job_id)
CROSS JOIN LATERAL (
    SELECT CASE WHEN x.schedule_id IS NULL THEN x.created_at ELSE k.nominal_at - interval '2 days' END AS at
    FROM noonmark.job x
    WHERE x.shard = k.shard AND x.job_id = k.job_id
    OFFSET 0
) AS earliest
CROSS JOIN LATERAL (
    SELECT FROM noonmark.attempt x
    WHERE x.shard = k.shard AND x.job_id = k.job_id AND x.nominal_at = k.nominal_at AND x.final
        AND x.finished_at >= earliest.at AND x.finished_at < statement_timestamp() + interval '1 day'
    LIMIT 1
) AS a
