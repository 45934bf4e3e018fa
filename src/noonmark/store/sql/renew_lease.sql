-- Answers the database's time, which also sets the node's clock; no row: the node was declared dead. The lease before this
-- one goes; only the last few are looked at, since a snapshot may keep thousands.
WITH living AS MATERIALIZED (
    SELECT n.node_id FROM noonmark.node n WHERE n.node_id = $1 AND n.alive FOR KEY SHARE
), gone AS (
    DELETE FROM noonmark.lease l
    WHERE l.node_id = (SELECT v.node_id FROM living v) AND l.until > statement_timestamp() - $2 * interval '3 seconds'
)
INSERT INTO noonmark.lease (node_id, until)
SELECT v.node_id, clock_timestamp() + $2 * interval '1 second' FROM living v
RETURNING clock_timestamp() AS now
