"""Crontabs of users and of the system (`man 5 crontab`, with what cronie, Debian and OpenBSD add)."""

import re
from typing import Any

import msgspec

from noonmark.cli.importing.found import Found
from noonmark.schedule import ScheduleError, read_schedule
from noonmark.schedule.spec import Cron

_SETTING = re.compile(r"""\s*(?P<name>"[^"]*"|'[^']*'|[A-Za-z_][A-Za-z0-9_]*)\s*=\s*(?P<value>.*?)\s*$""")
_TIMES = re.compile(r"\s*(?P<times>@\S+|(?:\S+\s+){4}\S+)\s+(?P<rest>\S.*)$")
_RANDOM = re.compile(r"(\d*)~(\d*)")
_MAIL = ("MAILTO", "MAILFROM", "CONTENT_TYPE", "CONTENT_TRANSFER_ENCODING")
_BOUNDS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
MAX_JITTER_S = 86_400.0


class Options(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    system: bool = False
    user: str | None = None
    task: str = "shell"
    tz: str | None = None


class _Reader:
    def __init__(self, found: Found, options: Options) -> None:
        self._found = found
        self._options = options
        self._environment: dict[str, str] = {}
        self._comments: list[str] = []
        self._zone = options.tz
        self._jitter_s = 0.0
        self._without_zone = 0

    def read(self, text: str) -> None:
        for number, line in enumerate(text.splitlines(), 1):
            self._line(f"{self._options.source}:{number}", line)
        if self._without_zone:
            self._found.note(
                self._options.source,
                f"cron goes by the clock of its machine; {self._without_zone} schedules were taken as UTC",
                "name the machine's zone: --tz Europe/Berlin",
            )

    def _line(self, where: str, line: str) -> None:
        stripped = line.strip()
        if not stripped:
            self._comments.clear()
        elif stripped.startswith("#"):
            if not _TIMES.match(stripped.lstrip("# ")) or not _looks_like_times(stripped.lstrip("# ")):
                self._comments.append(stripped.lstrip("#").strip())
        elif setting := _SETTING.match(line):
            self._set(where, _unquoted(setting["name"]), _unquoted(setting["value"]))
            self._comments.clear()
        else:
            self._entry(where, stripped)
            self._comments.clear()

    def _set(self, where: str, name: str, value: str) -> None:
        if name in _MAIL:
            if value and name == "MAILTO":
                self._found.note(
                    where, f"MAILTO={value}: no mail is sent here", "subscribe to failures: noonmark notify --help"
                )
            elif value:
                self._found.note(where, f"{name} is about mail", "leave it out")
        elif name == "CRON_TZ":
            self._zone = value or self._options.tz
        elif name == "RANDOM_DELAY" and value.isdecimal():
            self._jitter_s = min(int(value) * 60.0, MAX_JITTER_S)
        else:
            if name == "TZ":
                self._found.note(
                    where, f"TZ={value} is set for the commands, as cron does; it moves no schedule", "or use --tz"
                )
            self._environment[name] = value

    def _entry(self, where: str, line: str) -> None:
        parts = _TIMES.match(line)
        if parts is None:
            self._found.leave(where, f"this is no line of a crontab: {line[:60]}", "look at it")
            return
        times, rest = parts["times"], parts["rest"]
        user = self._options.user
        if self._options.system:
            user, _, rest = rest.partition(" ")
            rest = rest.strip()
            if not rest:
                self._found.leave(
                    where, "there is no command after the user", "is this a user's crontab? drop --system"
                )
                return
            if self._options.user is not None and user != self._options.user:
                return
        command, stdin = split_percent(rest)
        if times.lower() == "@reboot":
            self._found.leave(where, "@reboot: nothing starts with a machine here", f"start it otherwise: {command}")
            return
        schedule = self._schedule(where, times)
        if schedule is not None:
            self._add(where, schedule, command, stdin, user)

    def _schedule(self, where: str, times: str) -> Cron | None:
        if times.startswith("-"):  # cronie: do not log this one
            times = times[1:]
        if _RANDOM.search(times):
            self._found.note(
                where, f"{times!r}: a random time at each load of the crontab", "here H: it stays, by the job's name"
            )
            times = _with_hash(times)
        try:
            schedule = read_schedule(times, self._zone)
        except ScheduleError as error:
            self._found.leave(where, str(error), "write this one by hand")
            return None
        if not isinstance(schedule, Cron):
            self._found.leave(where, f"{times!r} is no schedule that cron knows", "write this one by hand")
            return None
        if self._zone is None:
            self._without_zone += 1
        return schedule

    def _add(self, where: str, schedule: Cron, command: str, stdin: str | None, user: str | None) -> None:
        given: dict[str, Any] = {"command": command}
        if self._environment:
            given["env"] = dict(self._environment)
        if stdin is not None:
            given["stdin"] = stdin
        if user is not None:
            given["user"] = user
        comments = tuple(comment for comment in self._comments if comment)
        self._found.add(
            where,
            comments[0].lower() if comments else name_of(command),
            self._options.task,
            schedule,
            input=given,
            comment=(*comments, f"from {where}"),
            jitter_s=self._jitter_s,
        )


def read_crontab(text: str, found: Found, options: Options) -> None:
    _Reader(found, options).read(text)
    if found.jobs:
        names = "command, env, stdin" + (" and user" if options.system or options.user else "")
        found.note(
            options.source,
            f"the commands became the input of the task {options.task!r}",
            f"have a worker that serves it, with the parameters {names}; all but the first may be missing",
        )


def split_percent(rest: str) -> tuple[str, str | None]:
    r"""The first `%` ends the command; what follows is its standard input, with `%` as line breaks. `\%` is a `%`."""
    command, *lines = re.split(r"(?<!\\)%", rest)
    plain = [part.replace(r"\%", "%") for part in [command, *lines]]
    return plain[0].strip(), "\n".join(plain[1:]) + "\n" if lines else None


def name_of(command: str) -> str:
    """The file name of the program that it runs, past `cd … &&` and variables."""
    command = re.sub(r"^\s*cd\s+\S+\s*(&&|;)\s*", "", command)
    words = [word for word in command.split() if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*=.*", word)]
    return words[0].strip("\"'").rstrip("/").rpartition("/")[2] if words else "job"


def _looks_like_times(text: str) -> bool:
    """A comment that is a line switched off names nothing."""
    first = text.split()[0]
    return first.startswith("@") or re.fullmatch(r"[-0-9*,/~]+", first) is not None


def _with_hash(times: str) -> str:
    fields = times.split()
    for position, field in enumerate(fields):
        low, high = _BOUNDS[position]

        def bounded(match: re.Match[str], low: int = low, high: int = high) -> str:
            return f"H({match[1] or low}-{match[2] or high})"

        fields[position] = "H" if field == "~" else _RANDOM.sub(bounded, field)
    return " ".join(fields)


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) >= 2 and text[0] == text[-1] and text[0] in "\"'" else text
