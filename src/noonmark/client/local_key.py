"""The key that `noonmark up` left for its own user: found for the very server that it was made for.

`up` writes `key` into its data folder, readable by its owner alone: the key, and the address of its node. It is looked
for in $NOONMARK_DATA_DIR, else in `.noonmark` here and in the folders above, and used only for that port of this
machine, so that it is sent to no other server.
"""

import ipaddress
import os
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

DATA_DIR = ".noonmark"
FILE = "key"


def find_key(server: str) -> str | None:
    place = _place(server)
    if place is None:
        return None
    for folder in _folders():
        try:
            key, address = (folder / FILE).read_text().split()
        except (OSError, ValueError):
            continue
        if _place(address) == place:
            return key
    return None


def _folders() -> Iterator[Path]:
    named = os.environ.get("NOONMARK_DATA_DIR")
    if named:
        yield Path(named)
        return
    try:
        here = Path.cwd()
    except OSError:
        return
    for folder in (here, *here.parents):
        yield folder / DATA_DIR


def _place(server: str) -> int | None:
    """The port on this machine; None for any other."""
    try:
        parts = urlsplit(server)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        return None
    if parts.scheme != "http" or port is None:
        return None
    if host == "localhost":
        return port
    try:
        return port if ipaddress.ip_address(host).is_loopback else None
    except ValueError:
        return None
