-- Notices become submissions to the jobs that deliver them, in the transaction of what they tell of. What goes out is put
-- together here. Subscriptions that are switched off or gone, and jobs without the labels asked for, leave no row.
-- OFFSET 0 keeps the notices outside of the joins.
WITH wanted AS MATERIALIZED (
    SELECT n.*, s.tenant_id, s.labels, s.delivery_job
    FROM unnest($1::integer[], $2::smallint[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
                $9::text[], $10::text[], $11::text[], $12::integer[])
        AS n (subscription_id, shard, job_id, event_id, type, at, run, silence, reason, why, error, folded)
    CROSS JOIN LATERAL (
        SELECT x.* FROM noonmark.subscription x WHERE x.subscription_id = n.subscription_id AND x.active OFFSET 0
    ) AS s
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
CROSS JOIN LATERAL (
    SELECT x.* FROM noonmark.job x WHERE x.shard = w.shard AND x.job_id = w.job_id AND x.tenant_id = w.tenant_id OFFSET 0
) AS j
CROSS JOIN LATERAL (SELECT x.name FROM noonmark.tenant x WHERE x.tenant_id = j.tenant_id OFFSET 0) AS t
CROSS JOIN LATERAL (
    SELECT x.shard, x.job_id FROM noonmark.job x
    WHERE x.shard = noonmark.shard_of(w.delivery_job) AND x.job_id = w.delivery_job
    OFFSET 0
) AS d
WHERE w.labels IS NULL OR j.labels @> w.labels
