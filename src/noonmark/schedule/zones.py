"""Time zones by IANA name, from a copy of the database that may be replaced while we run.

A zone that somebody holds keeps its data; what is asked for after `refresh` has the new. Aliases stand for the place
that they name: Asia/Calcutta for Asia/Kolkata.
"""

from difflib import get_close_matches
from threading import Lock

from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.stretches import Stretch, Zone, offset_s, stretch
from noonmark.schedule.tzdatabase import TzDatabase, current_database

__all__ = [
    "Stretch",
    "Zone",
    "canonical_zone",
    "offset_s",
    "refresh",
    "stretch",
    "tz_source",
    "tz_version",
    "zone",
    "zone_names",
]

_SAME_AS_UTC = frozenset({"UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal"})


class _Loaded:
    """One copy of the database with the zones that were asked for."""

    def __init__(self, database: TzDatabase) -> None:
        self.database = database
        self.zones: dict[str, Zone] = {}


_loaded: _Loaded | None = None
_loading = Lock()


def canonical_zone(name: str) -> str:
    """The name under which schedules of this zone are interned, or a ScheduleError."""
    if name in _SAME_AS_UTC:
        return "UTC"
    database = _load().database
    if name in database.zones:
        return database.aliases.get(name, name)
    folded = {known.casefold(): known for known in sorted(database.zones)}
    close = get_close_matches(name[:60].casefold(), folded, n=1)
    fix = f"did you mean {folded[close[0]]!r}?" if close else "use an IANA name such as 'Europe/Berlin' or 'UTC'"
    raise ScheduleError("schedule.tz", f"{name[:60]!r} is not a known time zone", fix)


def zone(name: str) -> Zone:
    """A zone by its name or an alias; ValueError if there is none."""
    loaded = _load()
    found = loaded.zones.get(name)
    if found is None:
        file = loaded.database.zones.get(name)
        if file is None:
            raise ValueError(f"unknown time zone {name!r}")
        found = loaded.zones.setdefault(name, Zone.read(name, file))
    return found


def zone_names() -> frozenset[str]:
    return frozenset(_load().database.zones)


def tz_version() -> str:
    """The version of the database in use, such as `2026f`."""
    return _load().database.version


def tz_source() -> str:
    """The folder that the database in use was read from."""
    return str(_load().database.folder)


def refresh() -> bool:
    """Looks for a newer or changed database; True if there was one, which is used from then on.

    Reads the disk: about 3 ms if nothing has changed. If anything is wrong there, all stays as it is. Whoever holds a
    recurrence by a wall clock has to build it anew.
    """
    global _loaded
    with _loading:
        before = _loaded
        database = current_database(None if before is None else before.database)
        if before is None:
            _loaded = _Loaded(database)
            return False
        if database.same_as(before.database):
            before.database = database
            return False
        _loaded = _Loaded(database)
        return True


def _load() -> _Loaded:
    global _loaded
    if _loaded is None:
        with _loading:
            if _loaded is None:
                _loaded = _Loaded(current_database(None))
    return _loaded
