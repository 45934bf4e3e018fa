"""What travels between clients, workers and nodes: one struct per message, as JSON or MessagePack."""
