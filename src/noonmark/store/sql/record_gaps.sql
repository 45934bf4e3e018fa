-- Remembers since when these shards had no owner to fire for them.
INSERT INTO noonmark.gap (shard, from_at, to_at)
SELECT k.shard, k.from_at, $3 FROM unnest($1::smallint[], $2::timestamptz[]) AS k (shard, from_at)
ON CONFLICT DO NOTHING
