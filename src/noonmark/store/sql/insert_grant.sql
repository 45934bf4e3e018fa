-- One grant; many at once go by COPY.
INSERT INTO noonmark.grant (shard, grant_id, worker_id, granted_at, job_ids, nominals_at, attempts)
VALUES ($1, $2, $3, $4, $5, $6, $7)
