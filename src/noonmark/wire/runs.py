"""Lists of runs, their stories, and changes of many at once (JSON)."""

from datetime import datetime
from typing import Annotated, Literal

import msgspec

from noonmark.wire.resources import Attempt, DeadLetter, Run

MAX_AT_ONCE = 10_000
MAX_ERROR_TEXT = 200
_AtOnce = msgspec.Meta(min_length=1, max_length=MAX_AT_ONCE)


class RunPage(msgspec.Struct, frozen=True):
    runs: list[Run]
    next_cursor: str | None
    scanned_until: datetime | None = None
    """A bounded number of runs is read for a page. If that ended this page before it was full, it was read down to this
    nominal time, and `next_cursor` goes on from there."""


class RunWithAttempts(Run, frozen=True, kw_only=True):
    attempts: list[Attempt] | msgspec.UnsetType = msgspec.UNSET
    """The attempts that ended, first to last; with `include=attempts`."""


class StoryLine(msgspec.Struct, frozen=True):
    at: datetime
    code: str
    """Stable; the words are not."""
    sentence: str


class Explanation(msgspec.Struct, frozen=True):
    """Why a run is, or ended, where it stands: its events, first to last."""

    run: str
    state: str
    story: list[StoryLine]


class Absence(msgspec.Struct, frozen=True, kw_only=True):
    """Why a job did or did not run at a time."""

    job: str
    at: datetime
    code: str
    """The answer in one stable word: `ran`, `waits`, `not_due`, `excluded`, `paused`, …"""
    sentence: str
    run: str | None = None
    """The run of that time, if there is one."""
    previous_at: datetime | None = None
    """The nearest time before that the schedule names."""
    next_at: datetime | None = None
    """The nearest time after."""
    story: list[StoryLine]


class StoppedRuns(msgspec.Struct, frozen=True, kw_only=True):
    cancelled: int
    """They were waiting and have ended."""
    stopping: int
    """They are running, and their workers were asked to stop them."""


class DeadPage(msgspec.Struct, frozen=True):
    dead: list[DeadLetter]
    next_cursor: str | None
    scanned_until: datetime | None = None
    """As in a list of runs, by the time of death."""


class DeadMatch(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Dead letters for which all of this is true; a field that is left out matches all."""

    job: str | None = None
    """Its name or id."""
    reason: str | None = None
    error: Annotated[str, msgspec.Meta(min_length=1, max_length=MAX_ERROR_TEXT)] | None = None
    """A part of the error's text, in any case of letters."""
    died_from: datetime | None = None
    died_to: datetime | None = None
    """Before this time."""


class Redrive(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One of `runs`, `job` and `filter`; of the last two at most `limit`, in the order of the list."""

    runs: Annotated[list[str], _AtOnce] | None = None
    job: str | None = None
    filter: DeadMatch | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_AT_ONCE)] = 1000
    dry_run: bool = False
    """Says how many match, up to 10,000, and changes nothing."""


class Redriven(msgspec.Struct, frozen=True, kw_only=True):
    redriven: int
    matched: int
    more: bool
    """There are more that match than were looked at: ask again."""
    dry_run: bool = False


class Discard(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One of `runs`, `job` and `filter`; of the last two at most `limit`, in the order of the list."""

    runs: Annotated[list[str], _AtOnce] | None = None
    job: str | None = None
    filter: DeadMatch | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=MAX_AT_ONCE)] = 1000
    dry_run: bool = False
    """Says how many match, up to 10,000, and changes nothing."""


class Discarded(msgspec.Struct, frozen=True, kw_only=True):
    discarded: int
    matched: int
    more: bool
    """There are more that match than were looked at: ask again."""
    dry_run: bool = False


Included = Literal["attempts"]
