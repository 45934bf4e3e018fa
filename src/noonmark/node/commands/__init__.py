"""The commands of callers, each carried out in one turn of the committer."""
