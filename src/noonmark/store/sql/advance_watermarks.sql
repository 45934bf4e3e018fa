-- Proves the term of every shard named; a shard that is missing from the answer was lost.
UPDATE noonmark.shard s
SET watermark = $4
FROM unnest($1::smallint[], $2::bigint[]) AS k (shard, term)
WHERE s.shard = k.shard AND s.term = k.term AND s.owner = $3
