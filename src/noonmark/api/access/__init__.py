"""Who may ask: keys, roles and the guard at the door."""
