-- Which of these tasks a worker or a client has declared.
SELECT t.name FROM noonmark.task t WHERE t.name = ANY ($1::text[])
