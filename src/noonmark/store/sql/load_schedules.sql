-- The distinct schedules of a shard's active jobs: one index probe each, however many jobs share them.
WITH RECURSIVE used (schedule_id) AS (
    (SELECT j.schedule_id FROM noonmark.job j
     WHERE j.shard = $1 AND j.active AND j.schedule_id IS NOT NULL ORDER BY j.schedule_id LIMIT 1)
    UNION ALL
    SELECT (SELECT j.schedule_id FROM noonmark.job j
            WHERE j.shard = $1 AND j.active AND j.schedule_id > u.schedule_id ORDER BY j.schedule_id LIMIT 1)
    FROM used u
    WHERE u.schedule_id IS NOT NULL
)
SELECT u.schedule_id, s.text
FROM used u
JOIN noonmark.schedule s ON s.schedule_id = u.schedule_id
