"""A server that lives as long as a `with` block, for tests, benchmarks and trying things out."""

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType

from noonmark.embedded.server import EmbeddedPostgres


@contextmanager
def temporary_postgres(
    *, port: int | None = None, settings: Mapping[str, str] = MappingProxyType({})
) -> Iterator[EmbeddedPostgres]:
    """A new server in a new folder; both are gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="noonmark-"))
    folder.chmod(0o755)  # the server may run under another account; its own folder inside is closed
    server = EmbeddedPostgres(folder, port=port, settings=settings)
    try:
        server.start()
        yield server
    finally:
        server.destroy()
        shutil.rmtree(folder, ignore_errors=True)
