SELECT s.schedule_id, s.text FROM noonmark.schedule s WHERE s.text = ANY ($1::text[])
