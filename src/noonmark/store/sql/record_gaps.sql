-- Remembers since when nobody had fired for these shards.
INSERT INTO noonmark.gap (shard, from_at, to_at)
SELECT k.shard, k.from_at, $3 FROM unnest($1::smallint[], $2::timestamptz[]) AS k (shard, from_at)
ON CONFLICT DO NOTHING
