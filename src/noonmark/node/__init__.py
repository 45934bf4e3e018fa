"""A node: it owns shards, ticks, grants, finishes, and carries what its owner decided into the database."""
