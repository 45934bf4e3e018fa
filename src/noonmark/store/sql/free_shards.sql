-- The shards of dead nodes have no owner, under a new term; how far they were ticked goes back into their rows.
WITH gone AS (
    DELETE FROM noonmark.watermark w
    WHERE w.ctid = ANY (ARRAY(
        SELECT (
            SELECT x.ctid FROM noonmark.watermark x
            WHERE x.shard = s.shard AND x.term = s.term ORDER BY x.at DESC LIMIT 1
        )
        FROM noonmark.shard s WHERE s.owner = ANY ($1::bigint[])
    ))
)
UPDATE noonmark.shard s
SET owner = NULL, term = s.term + 1, watermark = noonmark.ticked_until(s)
WHERE s.owner = ANY ($1::bigint[])
