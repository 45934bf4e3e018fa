"""`noonmark node --processes N`: one node that is several processes, one for each core, behind one address.

The parent does no work of the node. It binds the public address, accepts each connection and hands it to the process
that has the fewest (`door`); it keeps the processes running (`supervise`); and it holds all that outlives a process:
the ports of their own addresses, and the pages of their board (`noonmark.node.board`).

To the database and to other nodes each process is a node of its own: its own row and lease, its own shards, its own
address on a port of its own, where workers and siblings reach it without a detour.

States: starting, running, stopping. A process that ends before it was ready once ends the command with its status;
later one that ends is replaced, after a pause that doubles while it keeps failing, and the others go on. The first
signal has every process hand over its shards, the second ends them at once, the third kills. If the parent is killed,
the processes notice through their lifeline and stop in order.
"""
