"""The only room that knows SQL: one statement, one file under `sql/`, one function of the same name."""
