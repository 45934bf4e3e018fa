"""The local admin key: made at the first start and kept in the data folder, where the command line finds it."""

import asyncio
import os

from noonmark.cli.up.place import DataDir
from noonmark.client.local_key import FILE
from noonmark.errors import Conflict


def local_key(place: DataDir, database_url: str, url: str, shards: int) -> str:
    """The one of the last start, if it is still good; else a new one. Written anew with the address of this start."""
    from noonmark.node.commands.bootstrap import keep_or_make_admin

    file = place.path / FILE
    key = asyncio.run(keep_or_make_admin(database_url, _kept(place), name="noonmark up", shards=shards))
    beside = file.with_suffix(".new")
    try:
        beside.unlink(missing_ok=True)
        # Made with these rights, not given them later: no one can open it in between.
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as written:
            written.write(f"{key}\n{url}\n")
        place.share(beside)
        beside.replace(file)
    except OSError as error:
        raise Conflict(
            f"cannot write the key to {file}: {error.strerror}", field="--data-dir", fix="name a folder of your own"
        ) from error
    return key


def _kept(place: DataDir) -> str | None:
    try:
        lines = (place.path / FILE).read_text().split()
    except (OSError, ValueError):
        return None
    return lines[0] if lines else None
