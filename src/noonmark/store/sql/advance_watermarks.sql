-- Proves the term of every shard named; a shard that is missing from the answer was lost. Found key by key, then changed
-- at its place: a join could turn round.
UPDATE noonmark.shard s
SET watermark = $4
FROM unnest($1::smallint[], $2::bigint[]) AS k (shard, term)
CROSS JOIN LATERAL (SELECT x.ctid FROM noonmark.shard x WHERE x.shard = k.shard OFFSET 0) AS found
WHERE s.ctid = found.ctid AND s.term = k.term AND s.owner = $3
