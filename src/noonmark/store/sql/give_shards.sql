-- An owner gives shards away.
UPDATE noonmark.shard SET owner = NULL, term = term + 1 WHERE shard = ANY ($1::smallint[]) AND owner = $2
