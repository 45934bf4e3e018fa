SELECT nextval('noonmark.job_sequence') FROM generate_series(1, $1)
