"""Changes that somebody asked for, each one turn of the committer."""
