"""Copies of the IANA time zone database: where they are looked for, which one is used, and reading it whole.

A copy is a folder of compiled zones. It counts if it says its version and holds every zone that it lists, so that one
which is only half written is passed over. The folder in NOONMARK_TZDIR comes first; without it the newest version
does, and of equal ones the `tzdata` package. All files are read at once: a later change of the folder cannot mix two
versions, and what was read stays in use for as long as somebody holds it.
"""

import os
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from zoneinfo import TZPATH

import msgspec

from noonmark.schedule.stretches import transitions

_ALWAYS_THERE = frozenset({"UTC", "Europe/Berlin", "America/New_York", "Asia/Calcutta", "Pacific/Apia", "US/Eastern"})
_NO_ZONES = frozenset({"Factory", "localtime", "posixrules"})
_OTHER_CLOCKS = frozenset({"posix", "right"})  # folders of the same zones again, the second with leap seconds

Stamp = tuple[tuple[str, int, int, int], ...]
"""Name, size, time of change and inode of each file, to tell cheaply that none has changed."""


class TzDatabase(msgspec.Struct, frozen=True):
    folder: Path
    version: str
    stamp: Stamp
    zones: dict[str, bytes]
    aliases: dict[str, str]

    def same_as(self, other: "TzDatabase") -> bool:
        """Whether both come from one folder and say the same."""
        return (self.folder, self.version, self.zones) == (other.folder, other.version, other.zones)


def current_database(known: TzDatabase | None) -> TzDatabase:
    """The copy to use now: the known one, unless there is a better one or its folder has changed."""
    folders = _folders()
    if known is not None and known.folder in folders and _version(known.folder) is None:
        return known  # being replaced: no reason to fall back to an older one
    for folder in _best_first(folders):
        try:
            stamp = _stamp(folder)
            if known is not None and (known.folder, known.stamp) == (folder, stamp):
                return known
            found = _read(folder, stamp)
            if _stamp(folder) == stamp:
                return found
        except (OSError, ValueError):
            pass
        if known is not None and known.folder == folder:
            return known
    if known is None:
        raise RuntimeError("no time zone database was found: install the tzdata package")
    return known


def _folders() -> list[Path]:
    explicit = os.environ.get("NOONMARK_TZDIR")
    package = Path(str(files("tzdata"))) / "zoneinfo"
    return [*([Path(explicit)] if explicit else []), package, *map(Path, TZPATH)]


def _best_first(folders: list[Path]) -> list[Path]:
    versions = {folder: version for folder in folders if (version := _version(folder)) is not None}
    explicit = folders[:1] if os.environ.get("NOONMARK_TZDIR") else []
    newest_first = sorted(versions, key=lambda folder: _rank(versions[folder]), reverse=True)
    return [folder for folder in explicit if folder in versions] + [f for f in newest_first if f not in explicit]


def _version(folder: Path) -> str | None:
    """`2026f`, as the copy says itself; None if it does not, or is not there."""
    for name in ("tzdata.zi", "+VERSION"):
        try:
            with (folder / name).open("rb") as file:
                if found := re.match(rb"(?:# version )?([0-9]{4}[a-z]{1,2})\b", file.readline(200)):
                    return found[1].decode("ascii")
        except OSError:
            continue
    return None


def _rank(version: str) -> tuple[str, int, str]:
    """After 2026z comes 2026za."""
    return version[:4], len(version), version


def _stamp(folder: Path) -> Stamp:
    return tuple(sorted(_states(str(folder), "")))


def _states(folder: str, prefix: str) -> Iterator[tuple[str, int, int, int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if not entry.is_dir():
                state = entry.stat()
                yield prefix + entry.name, state.st_size, state.st_mtime_ns, state.st_ino
            elif entry.name not in _OTHER_CLOCKS and not entry.name.startswith("__"):
                yield from _states(entry.path, f"{prefix}{entry.name}/")


def _read(folder: Path, stamp: Stamp) -> TzDatabase:
    """Reads a copy, or raises ValueError if it is not whole."""
    zones: dict[str, bytes] = {}
    for name, *_ in stamp:
        content = (folder / name).read_bytes()
        if content.startswith(b"TZif") and name not in _NO_ZONES:
            transitions(content)
            zones[name] = content
    listed, links = _listed(_text(folder / "tzdata.zi"))
    version = _version(folder)
    if version is None or not zones.keys() >= (listed - _NO_ZONES | _ALWAYS_THERE):
        raise ValueError(f"{folder} lacks time zones")
    return TzDatabase(folder, version, stamp, zones, _aliases(links, _text(folder / "zone.tab")))


def _text(path: Path) -> str:
    return path.read_text("utf-8") if path.exists() else ""


def _listed(text: str) -> tuple[set[str], list[tuple[str, str]]]:
    """The names of all zones in tzdata.zi, and its links as (alias, target)."""
    lines = [line.split() for line in text.splitlines()]
    links = [(line[2], line[1]) for line in lines if len(line) == 3 and line[0] == "L"]
    return {line[1] for line in lines if len(line) > 1 and line[0] == "Z"} | {alias for alias, _ in links}, links


def _aliases(links: list[tuple[str, str]], tab: str) -> dict[str, str]:
    """Links that are only another name for one place.

    Many a link is a place of its own that keeps the same time today, such as Europe/Oslo (Berlin's), and zone.tab
    names those. They may part, so neither they nor another link to what they share (which may mean either) are aliases.
    """
    places = {fields[2] for line in tab.splitlines() if not line.startswith("#") and len(fields := line.split()) > 2}
    shared = {target for alias, target in links if alias in places}
    return {alias: target for alias, target in links if places and "/" in alias and target not in shared}
