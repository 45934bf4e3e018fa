-- Adds the schedules that are new; `load_schedule_ids` then finds them all.
INSERT INTO noonmark.schedule (text) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING
