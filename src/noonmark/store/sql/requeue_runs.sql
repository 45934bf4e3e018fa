-- A failed or handed-back attempt: the run waits again under the next attempt number. Found key by key, then changed at its
-- place: a join of keys and runs could turn round.
UPDATE noonmark.run r
SET attempt = k.attempt, failures = k.failures, due_at = k.due_at, reason = k.reason, error = k.error,
    sleeps = k.sleeps, parked = k.parked
FROM unnest($1::smallint[], $2::timestamptz[], $3::bigint[], $4::integer[], $5::integer[], $6::timestamptz[], $7::smallint[],
            $8::text[], $9::boolean[], $10::boolean[])
    AS k (shard, nominal_at, job_id, attempt, failures, due_at, reason, error, sleeps, parked)
CROSS JOIN LATERAL (
    SELECT x.ctid FROM noonmark.run x
    WHERE x.shard = k.shard AND x.nominal_at = k.nominal_at AND x.job_id = k.job_id
    OFFSET 0
) AS found
WHERE r.ctid = found.ctid
