"""The pure core under seeded random faults: several nodes and workers, a model of the store, a lossy network.

Two ways lead to a node: workers speak to the life of the moment (`node`, `serial`), callers of the API to its process
(`machine`), which performs commands by the node's own code on an event loop in the world's time (`loop`); how the owner
carries them out over the model's rows is in `handlers` and `units`, what callers do and are promised in `callers` and
`promises`.

One seed makes one world and replays exactly. `python -m tests.simulation --seeds 10000` looks for a failing one;
`--seed X -v` shows the events of one.
"""
