INSERT INTO noonmark.task (name) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING
