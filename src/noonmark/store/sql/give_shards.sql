-- An owner gives shards away; how far they were ticked goes back into their rows.
WITH gone AS (
    DELETE FROM noonmark.watermark w
    WHERE w.ctid = ANY (ARRAY(
        SELECT (
            SELECT x.ctid FROM noonmark.watermark x
            WHERE x.shard = s.shard AND x.term = s.term ORDER BY x.at DESC LIMIT 1
        )
        FROM noonmark.shard s WHERE s.shard = ANY ($1::smallint[]) AND s.owner = $2
    ))
)
UPDATE noonmark.shard s
SET owner = NULL, term = s.term + 1, watermark = noonmark.ticked_until(s)
WHERE s.shard = ANY ($1::smallint[]) AND s.owner = $2
