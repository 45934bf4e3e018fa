-- Several processes of one machine are one node to its users: each has a row, with the address that they share.
ALTER TABLE noonmark.node
    ADD COLUMN public_address text,                     -- NULL: the process is the whole node, and address is its own
    ADD COLUMN process        smallint NOT NULL DEFAULT 0;
