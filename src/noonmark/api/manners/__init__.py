"""How a request is treated whatever it asks for: repeats, limits, sparse fields, pages."""
