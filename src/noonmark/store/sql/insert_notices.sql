-- Notices become submissions to the jobs that deliver them, in the transaction of what they tell of. What goes out is put
-- together here. Subscriptions that are switched off or gone, and jobs without the labels asked for, leave no row.
WITH wanted AS MATERIALIZED (
    SELECT n.*, s.tenant_id, s.labels, s.delivery_job
    FROM unnest($1::integer[], $2::smallint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                $9::text[], $10::text[], $11::text[], $12::integer[])
        AS n (subscription_id, shard, job_id, event_id, type, at, run, silence, reason, why, error, folded)
    JOIN noonmark.subscription s ON s.subscription_id = n.subscription_id AND s.active
)
INSERT INTO noonmark.inbox (shard, job_id, has_input, input)
SELECT d.shard, d.job_id, true, json_build_object(
    'id', w.event_id,
    'type', w.type,
    'at', w.at,
    'tenant', t.name,
    'job', json_build_object(
        'id', noonmark.job_text(j.job_id),
        'name', j.name,
        'labels', coalesce(
            (SELECT json_object_agg(split_part(l, ':', 1), substr(l, strpos(l, ':') + 1))
             FROM unnest(j.labels) l WHERE strpos(l, ':') > 0),
            '{}'
        )
    ),
    'run', w.run::json,
    'silence', w.silence::json,
    'reason', w.reason,
    'why', w.why,
    'error', w.error,
    'folded', w.folded
)
FROM wanted w
JOIN noonmark.job j ON j.shard = w.shard AND j.job_id = w.job_id AND j.tenant_id = w.tenant_id
JOIN noonmark.tenant t ON t.tenant_id = j.tenant_id
JOIN noonmark.job d ON d.shard = (w.delivery_job & 4095)::smallint AND d.job_id = w.delivery_job
WHERE w.labels IS NULL OR j.labels @> w.labels
