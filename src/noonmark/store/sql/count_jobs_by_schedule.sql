-- The schedules that most active jobs have, counted. $1 how many schedules.
SELECT s.text, used.jobs
FROM (
    SELECT j.schedule_id, count(*) AS jobs
    FROM noonmark.job j
    WHERE j.active AND j.schedule_id IS NOT NULL
    GROUP BY j.schedule_id
    ORDER BY jobs DESC
    LIMIT $1
) AS used
JOIN noonmark.schedule s ON s.schedule_id = used.schedule_id
