-- The schedules that most jobs have, by the planner's statistics: cheap however many jobs there are. $1 the number of jobs.
SELECT s.text, (common.share * $1::bigint)::bigint AS jobs
FROM pg_stats t
CROSS JOIN LATERAL unnest(t.most_common_vals::text::integer[], t.most_common_freqs) AS common (schedule_id, share)
JOIN noonmark.schedule s ON s.schedule_id = common.schedule_id
WHERE t.schemaname = 'noonmark' AND t.tablename = 'job' AND t.attname = 'schedule_id'
