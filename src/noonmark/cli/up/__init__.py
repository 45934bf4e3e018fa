"""`noonmark up`: everything on one machine from one command.

It keeps PostgreSQL (unless given an address), a node and workers, each a process of its own in a session of its own,
so that the terminal's Ctrl-C reaches this process alone. It stops them in the order in which they need each other:
workers, which finish or hand back their runs; the node, which hands over its shards; PostgreSQL.

States: starting, then running, then stopping. A signal while starting or running begins to stop; a second one hurries
(workers hand back at once), a third one kills. A node that ends before it was ready once ends the command, with the end
of its log; later a child that ends is started again, after a pause that doubles while it keeps failing.

If this process is killed, the children notice through their lifeline and stop by themselves; PostgreSQL stays, and is
adopted by the next `noonmark up` on the same folder.
"""
