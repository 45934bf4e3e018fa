-- Grants whose runs in the shard have all ended or been granted again.
DELETE FROM noonmark.grant g
USING unnest($1::smallint[], $2::bigint[]) AS k (shard, grant_id)
WHERE g.shard = k.shard AND g.grant_id = k.grant_id
