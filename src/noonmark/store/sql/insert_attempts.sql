-- A few ended attempts; many at once go by COPY.
INSERT INTO noonmark.attempt
    (shard, job_id, nominal_at, attempt, finished_at, tenant_id, version, worker_id, due_at, granted_at, started_at, outcome,
     reason, final, error, result)
SELECT k.shard, k.job_id, k.nominal_at, k.attempt, k.finished_at, k.tenant_id, k.version, k.worker_id, k.due_at, k.granted_at,
       k.started_at, k.outcome, k.reason, k.final, k.error, k.result::json
FROM unnest($1::smallint[], $2::bigint[], $3::timestamptz[], $4::integer[], $5::timestamptz[], $6::integer[], $7::integer[],
            $8::bigint[], $9::timestamptz[], $10::timestamptz[], $11::timestamptz[], $12::smallint[], $13::smallint[],
            $14::boolean[], $15::text[], $16::text[])
    AS k (shard, job_id, nominal_at, attempt, finished_at, tenant_id, version, worker_id, due_at, granted_at, started_at,
          outcome, reason, final, error, result)
