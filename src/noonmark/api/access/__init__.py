"""Authentication and authorisation: keys, roles and the guard."""
