-- What is renewed every second leaves the rows that every transaction reads: whoever holds a snapshot keeps each version of
-- a row that is updated, and whoever reads the row walks over all of them. Here the newest is a row of its own, found from
-- the end of its key, and the one before it is deleted: nothing walks over what a snapshot keeps.

-- Until when a node's lease holds: the newest row. `node.lease_until` of such a node is infinity, so that an older node
-- never declares it dead; an older node has no rows here, and its lease is `node.lease_until`.
CREATE TABLE noonmark.lease (
    node_id bigint NOT NULL,
    until   timestamptz NOT NULL,
    PRIMARY KEY (node_id, until)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE FUNCTION noonmark.leased_until(n noonmark.node) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(
    (SELECT l.until FROM noonmark.lease l WHERE l.node_id = n.node_id ORDER BY l.until DESC LIMIT 1), n.lease_until
);

-- How far an owned shard has been ticked under its present term: the newest row, if there is one. Of a free shard, and of
-- one that an older node owns, it is `shard.watermark`: whoever frees a shard writes it back there.
CREATE TABLE noonmark.watermark (
    shard smallint NOT NULL,
    term  bigint NOT NULL,
    at    timestamptz NOT NULL,
    PRIMARY KEY (shard, term, at)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_cost_delay = 0);

CREATE FUNCTION noonmark.ticked_until(s noonmark.shard) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN coalesce(
    (SELECT w.at FROM noonmark.watermark w WHERE w.shard = s.shard AND w.term = s.term ORDER BY w.at DESC LIMIT 1),
    s.watermark
);
