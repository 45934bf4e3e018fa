-- The distinct schedules of a shard's active jobs: one index probe each, however many jobs share them. OFFSET 0
-- keeps the schedules that are used outside of the join.
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
CROSS JOIN LATERAL (SELECT x.text FROM noonmark.schedule x WHERE x.schedule_id = u.schedule_id OFFSET 0) AS s
