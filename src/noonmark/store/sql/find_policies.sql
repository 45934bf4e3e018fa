-- The policies of a task, $1, and a queue, $2; NULL asks for nothing. A default is not written out.
SELECT p.policy_id
FROM noonmark.policy p
WHERE ($1::text IS NULL OR p.spec::json ->> 'task' = $1)
    AND ($2::text IS NULL OR coalesce(p.spec::json ->> 'queue', 'default') = $2)
