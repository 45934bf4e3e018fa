"""Benchmarks: one file per question. `python -m bench NAME` answers it on this machine, with durable commits."""
