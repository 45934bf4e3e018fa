"""Names of zones, their stretches of constant offset, and a database that changes while we run."""

import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import pytest

from noonmark.schedule import tzdatabase, zones
from noonmark.schedule.errors import ScheduleError
from noonmark.schedule.stretches import FIRST_S, LAST_S, Stretch, Zone
from noonmark.schedule.wall import WallRecurrence
from noonmark.schedule.zones import canonical_zone, offset_s, refresh, stretch, tz_source, tz_version, zone, zone_names

FROM_S, TO_S = 0, 4_102_444_800  # 1970 to 2100


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).timestamp())


@pytest.mark.parametrize(
    ("name", "canonical"),
    [
        ("Europe/Berlin", "Europe/Berlin"),
        ("Asia/Calcutta", "Asia/Kolkata"),
        ("America/Godthab", "America/Nuuk"),
        ("US/Eastern", "America/New_York"),
        ("Europe/Kiev", "Europe/Kyiv"),
        ("UTC", "UTC"),
        ("Etc/UTC", "UTC"),
        ("Zulu", "UTC"),
        ("GMT", "GMT"),
        ("Etc/GMT+0", "Etc/GMT"),
        ("Etc/GMT+5", "Etc/GMT+5"),
        # Places of their own that merely keep the same time today, and names that may mean either of two such places.
        ("Europe/Oslo", "Europe/Oslo"),
        ("Atlantic/Reykjavik", "Atlantic/Reykjavik"),
        ("America/Coral_Harbour", "America/Coral_Harbour"),
        ("Atlantic/Jan_Mayen", "Atlantic/Jan_Mayen"),
    ],
)
def test_aliases_stand_for_the_place_that_they_name(name: str, canonical: str) -> None:
    assert canonical_zone(name) == canonical
    assert canonical_zone(canonical) == canonical
    for at_s in range(FROM_S, TO_S, 10_000_019):
        assert offset_s(zone(name), at_s) == offset_s(zone(canonical), at_s)


def test_every_name_has_a_canonical_one_of_the_same_data() -> None:
    assert len(zone_names()) > 550
    assert not zone_names() & {"Factory", "localtime", "posixrules"}
    for name in zone_names():
        canonical = canonical_zone(name)
        assert canonical_zone(canonical) == canonical
        assert stretch(zone(name), at("2026-07-01T00:00Z")) == stretch(zone(canonical), at("2026-07-01T00:00Z"))


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("europe/berlin", "did you mean 'Europe/Berlin'?"),
        ("Europe/Berln", "did you mean 'Europe/Berlin'?"),
        ("Factory", "use an IANA name such as 'Europe/Berlin' or 'UTC'"),
        ("../../etc/passwd", "use an IANA name such as 'Europe/Berlin' or 'UTC'"),
        ("x" * 100_000, "use an IANA name such as 'Europe/Berlin' or 'UTC'"),
        ("", "use an IANA name such as 'Europe/Berlin' or 'UTC'"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(name: str, fix: str) -> None:
    with pytest.raises(ScheduleError) as error:
        canonical_zone(name)
    assert error.value.field == "schedule.tz"
    assert error.value.fix == fix
    with pytest.raises(ValueError, match="unknown time zone"):
        zone(name)


def test_stretches_by_hand() -> None:
    summer = Stretch(at("2026-03-29T01:00Z"), at("2026-10-25T01:00Z"), 7200, 3600)
    berlin = zone("Europe/Berlin")
    assert stretch(berlin, summer.start_s) == stretch(berlin, summer.end_s - 1) == summer
    assert stretch(berlin, summer.start_s - 1).end_s == summer.start_s
    assert stretch(berlin, summer.end_s) == Stretch(summer.end_s, at("2027-03-28T01:00Z"), 3600, 7200)
    assert stretch(zone("UTC"), 0) == Stretch(FIRST_S, LAST_S, 0, 0)
    # India has kept one offset since the war, and no rule says otherwise.
    assert stretch(zone("Asia/Kolkata"), 0) == Stretch(at("1945-10-14T17:30Z"), LAST_S, 19_800, 23_400)
    # Portugal changed its standard time and its summer time at once in 1992: the clock did not notice.
    assert stretch(zone("Europe/Lisbon"), at("1992-09-27T01:00Z")).start_s == at("1992-03-29T01:00Z")
    assert stretch(zone("Pacific/Apia"), at("2011-12-30T10:00Z")).offset_before_s == -36_000
    # Grand Turk took up the rule of New York in 2018, three years after its last change of offset.
    assert stretch(zone("America/Grand_Turk"), at("2016-06-01T00:00Z")).end_s == at("2018-11-04T06:00Z")
    # Gaza stops summer time for Ramadan and ends it for good a week later.
    assert stretch(zone("Asia/Gaza"), 2_234_304_000).end_s == 2_234_304_000 + 7 * 86_400 - 3_600


def test_outside_of_the_horizon_is_the_nearest_stretch() -> None:
    berlin = zone("Europe/Berlin")
    assert stretch(berlin, -(2**60)) == stretch(berlin, FIRST_S)
    assert stretch(berlin, FIRST_S).start_s == FIRST_S
    assert stretch(berlin, 2**60) == stretch(berlin, LAST_S - 1)
    assert stretch(berlin, LAST_S - 1).end_s == LAST_S


def distinct_zones() -> list[Zone]:
    """One name for each content."""
    root = Path(tz_source())
    return [zone(name) for name in {(root / name).read_bytes(): name for name in sorted(zone_names())}.values()]


def test_stretches_of_all_zones_follow_zoneinfo() -> None:
    """They touch, their offsets are zoneinfo's, and each is longer than the change at either end."""
    random = Random(3)
    shortest_s = TO_S
    for where in distinct_zones():
        here = stretch(where, FROM_S)
        while here.start_s < TO_S:
            for at_s in (max(here.start_s, FIRST_S), here.end_s - 1, random.randrange(here.start_s, here.end_s)):
                assert offset_s(where, at_s) == here.offset_s, (where.key, at_s)
                assert stretch(where, at_s) is here, (where.key, at_s)
            following = stretch(where, here.end_s)
            if here.end_s < LAST_S:
                assert following.start_s == here.end_s
                assert following.offset_before_s == here.offset_s != following.offset_s
                change_s = abs(following.offset_s - here.offset_s)
                assert change_s <= 86_400
                assert change_s < min(here.end_s - here.start_s, following.end_s - following.start_s), where.key
            shortest_s = min(shortest_s, here.end_s - here.start_s)
            if here.end_s == LAST_S:
                break
            here = following
    assert shortest_s == 7 * 86_400 - 3_600


def test_stretches_are_the_same_from_wherever_they_are_looked_up() -> None:
    random = Random(4)
    root = Path(tz_source())
    for name in ("Europe/Berlin", "America/Santiago", "Africa/Casablanca", "Asia/Gaza", "Antarctica/Troll"):
        for _ in range(60):
            at_s = random.randrange(FIRST_S, LAST_S)
            fresh = Zone.read(name, (root / name).read_bytes())
            found = stretch(fresh, at_s)
            assert found == stretch(zone(name), at_s)
            assert found.start_s <= at_s < found.end_s


def test_a_rule_hides_no_change_between_the_probes() -> None:
    """The rules after the last listed change, looked at every six hours of ten years."""
    start_s = at("2090-01-01T00:00Z")
    rules: dict[bytes, Zone] = {}
    for where in distinct_zones():
        rules[(Path(tz_source()) / where.key).read_bytes().splitlines()[-1]] = where
    changing = {rule: where for rule, where in rules.items() if b"," in rule}
    assert len(changing) > 25
    for where in changing.values():
        for at_s in range(start_s, start_s + 10 * 366 * 86_400, 6 * 3_600):
            assert offset_s(where, at_s) == stretch(where, at_s).offset_s


def test_a_lookup_is_cheap() -> None:
    where = Zone.read("Europe/Berlin", (Path(tz_source()) / "Europe/Berlin").read_bytes())
    years = [at("2026-01-01T00:00Z") + year * 31_556_952 for year in range(50)]
    started = time.perf_counter()
    for at_s in years:
        where.stretch(at_s)
    assert (time.perf_counter() - started) / len(years) < 0.002  # 0.1 ms on an idle core
    started = time.perf_counter()
    for _ in range(200):
        for at_s in years:
            where.stretch(at_s)
    assert (time.perf_counter() - started) / 200 / len(years) < 10e-6  # 0.3 µs on an idle core


@pytest.mark.parametrize("content", [b"", b"TZif", b"TZif2" + b"\0" * 15 + b"\x7f" * 40 + b"\n", b"MZ\x90\n"])
def test_what_is_no_file_of_a_zone_is_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="not a whole file"):
        Zone.read("Here/There", content)


# A database that changes. Each test works on a copy of the tzdata package in a folder of its own.


class Noon:
    keeps_pace = False

    def next_wall(self, after_s: int) -> int | None:
        return (after_s - 43_200) // 86_400 * 86_400 + 43_200 + 86_400

    def previous_wall(self, before_s: int) -> int | None:
        return (before_s - 43_201) // 86_400 * 86_400 + 43_200


@pytest.fixture
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy of all that we use now, named in NOONMARK_TZDIR."""
    monkeypatch.delenv("NOONMARK_TZDIR", raising=False)
    refresh()
    folder = tmp_path / "zoneinfo"
    shutil.copytree(tz_source(), folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setenv("NOONMARK_TZDIR", str(folder))
    yield folder
    monkeypatch.undo()
    refresh()


FEW = [*sorted(tzdatabase._ALWAYS_THERE), "Asia/Kabul", "Asia/Tehran", "Europe/Paris", "Etc/GMT+5", "Etc/GMT+6"]


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A copy that has and lists only a few zones, named in NOONMARK_TZDIR."""
    monkeypatch.delenv("NOONMARK_TZDIR", raising=False)
    refresh()
    folder = tmp_path / "zoneinfo"
    for name in FEW:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(Path(tz_source()) / name, folder / name)
    listed = "".join(f"Z {name} 0 - {name}\n" for name in FEW)
    (folder / "tzdata.zi").write_text(f"# version {tz_version()}\n{listed}", "utf-8")
    monkeypatch.setenv("NOONMARK_TZDIR", str(folder))
    yield folder
    monkeypatch.undo()
    refresh()


def set_version(folder: Path, version: str) -> None:
    text = (folder / "tzdata.zi").read_text("utf-8")
    (folder / "tzdata.zi").write_text(f"# version {version}\n{text.partition(chr(10))[2]}", "utf-8")


def test_a_new_database_is_picked_up(whole: Path) -> None:
    assert refresh()
    assert tz_source() == str(whole)
    assert not refresh()
    held, day_us = WallRecurrence(Noon(), "Europe/Berlin"), at("2026-07-01T00:00Z") * 1_000_000
    noon_in_berlin, noon_in_new_york = (at(f"2026-07-01T{hour}:00Z") * 1_000_000 for hour in (10, 16))
    assert held.next_after(day_us) == noon_in_berlin

    shutil.copy(whole / "America/New_York", whole / "Europe/Berlin")
    set_version(whole, "2099c")
    assert tz_version() != "2099c"
    assert zone("Europe/Berlin").stretch(0).offset_s == 3_600
    assert refresh()
    assert tz_version() == "2099c"
    assert WallRecurrence(Noon(), "Europe/Berlin").next_after(day_us) == noon_in_new_york
    assert held.next_after(day_us) == noon_in_berlin  # also in years that it has never looked at
    assert held.next_after(at("2044-07-01T00:00Z") * 1_000_000) == at("2044-07-01T10:00Z") * 1_000_000
    assert not refresh()


def test_new_data_of_the_same_version_is_picked_up(database: Path) -> None:
    refresh()
    five, six = database / "Etc/GMT+5", database / "Etc/GMT+6"
    assert five.stat().st_size == six.stat().st_size
    shutil.copy(six, five)
    assert refresh()
    assert offset_s(zone("Etc/GMT+5"), 0) == -6 * 3_600


def test_files_written_anew_with_the_same_content_are_no_change(database: Path) -> None:
    refresh()
    berlin = zone("Europe/Berlin")
    content = (database / "Europe/Berlin").read_bytes()
    (database / "Europe/Berlin").unlink()
    (database / "Europe/Berlin").write_bytes(content)
    assert not refresh()
    assert zone("Europe/Berlin") is berlin


@pytest.mark.parametrize("wrong", ["version", "folder", "zone", "cut", "empty", "list", "no list"])
def test_a_half_written_database_changes_nothing(database: Path, wrong: str) -> None:
    set_version(database, "2000a")  # older than all others: no reason to fall back to one of them
    assert refresh()
    shutil.copy(database / "America/New_York", database / "Europe/Berlin")
    content = (database / "Europe/Paris").read_bytes()
    if wrong == "version":
        set_version(database, "")
    elif wrong == "folder":
        database.rename(database.with_name("old"))
    elif wrong == "zone":
        (database / "Asia/Kabul").unlink()
    elif wrong == "cut":
        (database / "Europe/Paris").write_bytes(content[:300])
    elif wrong == "empty":
        (database / "Europe/Paris").write_bytes(b"")
    elif wrong == "no list":
        (database / "US/Eastern").unlink()
        (database / "tzdata.zi").write_text("# version 2000b\n")
    else:
        (database / "tzdata.zi").write_bytes((database / "tzdata.zi").read_bytes() + b"L Europe/Berlin Moon/Sea\n")
    assert not refresh()
    assert (tz_source(), tz_version()) == (str(database), "2000a")
    assert offset_s(zone("Europe/Berlin"), 0) == 3_600

    if wrong == "folder":
        database.with_name("old").rename(database)
    (database / "Europe/Paris").write_bytes(content)
    shutil.copy(database / "Asia/Tehran", database / "Asia/Kabul")
    shutil.copy(database / "America/New_York", database / "US/Eastern")
    (database / "Moon").mkdir()
    shutil.copy(database / "Europe/Berlin", database / "Moon/Sea")
    set_version(database, "2000b")
    assert refresh()
    assert offset_s(zone("Europe/Berlin"), 0) == -18_000


def test_files_that_change_while_they_are_read_wait_for_the_next_look(
    database: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refresh()
    read = tzdatabase._read

    def read_too_early(folder: Path, stamp: tzdatabase.Stamp) -> tzdatabase.TzDatabase:
        found = read(folder, stamp)
        shutil.copy(database / "Etc/GMT+6", database / "Europe/Berlin")
        return found

    shutil.copy(database / "Etc/GMT+6", database / "Etc/GMT+5")
    monkeypatch.setattr(tzdatabase, "_read", read_too_early)
    assert not refresh()
    assert offset_s(zone("Etc/GMT+5"), 0) == -5 * 3_600
    monkeypatch.setattr(tzdatabase, "_read", read)
    assert refresh()
    assert {offset_s(zone(name), 0) for name in ("Etc/GMT+5", "Europe/Berlin")} == {-6 * 3_600}


def test_the_newest_complete_copy_wins_without_an_explicit_folder(
    database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = str(tzdatabase._folders()[1])
    monkeypatch.delenv("NOONMARK_TZDIR")
    monkeypatch.setattr(tzdatabase, "TZPATH", (str(database), str(tmp_path / "other")))
    refresh()
    assert tz_source() == package  # of equal versions
    set_version(database, "2000a")
    assert not refresh()
    set_version(database, "2098z")
    assert refresh()
    assert (tz_source(), tz_version()) == (str(database), "2098z")
    shutil.copytree(database, tmp_path / "other")
    set_version(tmp_path / "other", "2098za")  # comes after 2098z
    assert refresh()
    assert tz_version() == "2098za"

    (tmp_path / "other/US/Eastern").unlink()  # as in Debian without its legacy names: jobs may use them
    monkeypatch.setattr(zones, "_loaded", None)
    assert (tz_source(), tz_version()) == (str(database), "2098z")
    (database / "tzdata.zi").rename(database / "gone")
    (database / "+VERSION").write_text("2097b\n")
    monkeypatch.setattr(zones, "_loaded", None)
    assert (tz_source(), tz_version()) == (str(database), "2097b")
    (database / "+VERSION").unlink()  # no version, no vote
    monkeypatch.setattr(zones, "_loaded", None)
    assert tz_source() == package


def test_an_explicit_folder_wins_over_a_newer_copy(database: Path) -> None:
    set_version(database, "2000a")
    assert refresh()
    assert tz_version() == "2000a"


def test_an_explicit_folder_of_no_use_is_passed_over(database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.rmtree(database / "Europe")
    monkeypatch.setattr(zones, "_loaded", None)
    assert tz_source() != str(database)
    assert offset_s(zone("Europe/Berlin"), at("2026-01-01T00:00Z")) == 3_600


def test_leap_second_zones_and_strays_are_no_zones(database: Path) -> None:
    (database / "right").mkdir()
    for stray in ("right/Paris", "localtime", "posixrules"):
        shutil.copy(database / "Europe/Paris", database / stray)
    refresh()
    assert not {"right/Paris", "localtime", "posixrules", "zone.tab", "tzdata.zi"} & zone_names()


def test_instants_of_today() -> None:
    """The zones that we read show the time that the operating system's own library shows."""
    now = datetime(2026, 8, 1, 12, tzinfo=UTC)
    assert now.astimezone(zone("Asia/Kathmandu")).isoformat() == "2026-08-01T17:45:00+05:45"
    assert now.astimezone(zone("Australia/Lord_Howe")).isoformat() == "2026-08-01T22:30:00+10:30"
