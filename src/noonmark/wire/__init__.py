"""The messages between clients, workers and nodes: one struct each, as JSON or MessagePack."""
