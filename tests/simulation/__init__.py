"""The pure core under seeded random faults: several nodes and workers, a model of the store, a lossy network.

One seed makes one world and replays exactly. `python -m tests.simulation --seeds 10000` looks for a failing one;
`--seed X -v` shows the events of one.
"""
