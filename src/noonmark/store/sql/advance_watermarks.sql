-- Proves the term of every shard named; a shard that is missing from the answer was lost. The new mark is a row, and the one
-- before it, which stood at $5, goes. Found key by key: a join could turn round.
WITH held AS MATERIALIZED (
    SELECT k.shard, k.term
    FROM unnest($1::smallint[], $2::bigint[]) AS k (shard, term)
    CROSS JOIN LATERAL (SELECT x.owner, x.term FROM noonmark.shard x WHERE x.shard = k.shard OFFSET 0) AS s
    WHERE s.term = k.term AND s.owner = $3
), gone AS (
    DELETE FROM noonmark.watermark w
    WHERE w.ctid = ANY (ARRAY(
        SELECT (SELECT x.ctid FROM noonmark.watermark x WHERE x.shard = h.shard AND x.term = h.term AND x.at = $5)
        FROM held h
    ))
)
INSERT INTO noonmark.watermark (shard, term, at)
SELECT h.shard, h.term, $4 FROM held h
