-- breaking: commands travel between nodes in another form, and older nodes keep their keys in a table that is gone.

-- Requests with a key that were carried out: written in the transaction of their effect, by the owner of the shard. One row
-- for each shard that a batch touched; shard -1 stands for what belongs to none, such as keys and tenants.
CREATE TABLE noonmark.request (
    tenant_id   integer NOT NULL,
    key         text COLLATE "C" NOT NULL,
    shard       smallint NOT NULL,
    fingerprint bytea NOT NULL,
    expires_at  timestamptz NOT NULL,
    answer      json, -- NULL if it was too large or too secret to be kept
    PRIMARY KEY (tenant_id, key, shard)
);
CREATE INDEX request_expires ON noonmark.request (shard, expires_at);

DROP TABLE noonmark.idempotency;

-- By this nodes know each other: whoever can read it can write every table anyhow.
INSERT INTO noonmark.setting (name, value)
VALUES ('node_secret', replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));
