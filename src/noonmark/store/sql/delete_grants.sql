-- Grants whose runs in the shard have all ended or been granted again. Found key by key, then deleted by their places: a
-- join of keys and grants could turn round.
DELETE FROM noonmark.grant g
WHERE g.ctid = ANY (ARRAY(
    SELECT (SELECT x.ctid FROM noonmark.grant x WHERE x.shard = k.shard AND x.grant_id = k.grant_id)
    FROM unnest($1::smallint[], $2::bigint[]) AS k (shard, grant_id)
))
