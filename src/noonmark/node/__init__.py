"""A node: it owns shards, and commits the decisions of their owner to the database."""
