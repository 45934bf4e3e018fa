"""`noonmark doctor`: `command` gathers the facts, `checks` judges them, without any request."""
