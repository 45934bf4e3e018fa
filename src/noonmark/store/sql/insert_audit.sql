INSERT INTO noonmark.audit
    (tenant_id, at, actor, key_id, door, address, agent, action, subject, before, after)
SELECT k.tenant_id, k.at, k.actor, k.key_id, k.door, k.address, k.agent, k.action, k.subject, k.before::json,
       k.after::json
FROM unnest($1::integer[], $2::timestamptz[], $3::text[], $4::integer[], $5::text[], $6::text[], $7::text[],
            $8::text[], $9::text[], $10::text[], $11::text[])
    AS k (tenant_id, at, actor, key_id, door, address, agent, action, subject, before, after)
