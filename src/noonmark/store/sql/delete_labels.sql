-- Labels that jobs of one tenant, $1, no longer have: shards, names and labels side by side. Found key by key, then deleted by
-- their places: a join of keys and labels could turn round.
DELETE FROM noonmark.job_label l
WHERE l.ctid = ANY (ARRAY(
    SELECT (
        SELECT x.ctid FROM noonmark.job_label x
        WHERE x.shard = k.shard AND x.tenant_id = $1 AND x.label = k.label AND x.name = k.name
    )
    FROM unnest($2::smallint[], $3::text[], $4::text[]) AS k (shard, name, label)
))
