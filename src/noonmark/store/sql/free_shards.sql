-- The shards of dead nodes have no owner, under a new term.
UPDATE noonmark.shard SET owner = NULL, term = term + 1 WHERE owner = ANY ($1::bigint[])
