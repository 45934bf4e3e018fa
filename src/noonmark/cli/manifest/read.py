"""Manifests from files and folders, checked as far as that goes without a server; every error names its line."""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from noonmark.cli.manifest.lines import Document, read_documents, steps
from noonmark.cli.manifest.lines import Path as ValuePath
from noonmark.clock import own_time_us
from noonmark.errors import InvalidInput, NoonmarkError
from noonmark.model.job import check_input, check_name, check_policy, check_priority
from noonmark.model.policy import Policy
from noonmark.schedule import validate
from noonmark.wire.manifest import MANAGED_BY, JobEntry
from noonmark.wire.resources import JobSpec

SUFFIXES = (".yaml", ".yml", ".json")
MAX_SHOWN = 20
_AT = re.compile(r" - at `(key in )?(?P<path>\$[^`]*)`$")
_MERGED = ("retry", "misfire", "labels")
"""Of these, defaults and a job's own fields are put together field by field."""


class Wanted(msgspec.Struct, frozen=True):
    """One job of a manifest, and where it stands."""

    place: str
    spec: JobSpec
    paused: bool | None


class InvalidManifest(InvalidInput):
    """Everything that is wrong, a line for each."""

    def __init__(self, shown: list[str]) -> None:
        NoonmarkError.__init__(self, "\n".join(shown))


class Manifests(msgspec.Struct, frozen=True):
    jobs: dict[str, Wanted]
    owners: frozenset[str]
    """The names that the documents give themselves: `managed_by`."""


def read_manifests(paths: list[str]) -> Manifests:
    """All files, or one error that tells everything that is wrong with them."""
    return _read(_texts(paths))


def read_text(source: str, text: str) -> Manifests:
    return _read([(source, text)])


def _read(texts: Iterable[tuple[str, str]]) -> Manifests:
    jobs: dict[str, Wanted] = {}
    owners: set[str] = set()
    problems: list[InvalidInput] = []
    for source, text in texts:
        try:
            for document in read_documents(source, text):
                problems += _read_document(document, jobs, owners)
        except InvalidInput as error:
            problems.append(error)
    if problems:
        shown = [str(problem) for problem in problems[:MAX_SHOWN]]
        if len(problems) > MAX_SHOWN:
            shown.append(f"and {len(problems) - MAX_SHOWN} more")
        raise InvalidManifest(shown)
    return Manifests(jobs, frozenset(owners))


def _texts(paths: list[str]) -> Iterator[tuple[str, str]]:
    for name in paths:
        if name == "-":
            yield "stdin", sys.stdin.read()
            continue
        path = Path(name)
        try:
            if path.is_dir():
                files = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES and file.is_file())
                if not files:
                    raise InvalidInput(name, "no manifest is in this folder", f"name it {' or '.join(SUFFIXES)}")
            else:
                files = [path]
            for file in files:
                yield str(file), file.read_text("utf-8")
        except OSError as error:
            raise InvalidInput(name, f"cannot read it: {error.strerror}", "see --file") from None
        except UnicodeDecodeError:
            raise InvalidInput(name, "this is not text in UTF-8", "save it as UTF-8") from None


def _read_document(document: Document, jobs: dict[str, Wanted], owners: set[str]) -> list[InvalidInput]:
    """Adds its jobs; returns what is wrong."""
    problems: list[InvalidInput] = []
    value = {"jobs": document.value} if isinstance(document.value, list) else document.value
    base: ValuePath = () if isinstance(document.value, list) else ("jobs",)
    try:
        entries, defaults, owner = _parts(document, value)
    except InvalidInput as error:
        return [error]
    if owner is not None:
        owners.add(owner)
    for position, entry in enumerate(entries):
        path = (*base, position)
        try:
            wanted = _wanted(document, path, entry, defaults, owner)
        except InvalidInput as error:
            problems.append(error)
            continue
        name = wanted.spec.name
        if name in jobs:
            fix = f"it is also at {jobs[name].place}: rename or remove one"
            problems.append(InvalidInput(document.place((*path, "name")), f"two jobs are named {name!r}", fix))
        jobs.setdefault(name, wanted)
    return problems


def _parts(document: Document, value: Any) -> tuple[list[Any], dict[str, Any], str | None]:
    if not isinstance(value, dict):
        raise InvalidInput(document.place(()), "a manifest is a mapping or a list", "start with `jobs:`")
    for key in value:
        if key not in ("jobs", "managed_by", "defaults"):
            fix = "use jobs, managed_by and defaults"
            raise InvalidInput(document.place((key,)), f"{key!r} is no part of a manifest", fix)
    entries, defaults, owner = value.get("jobs") or [], value.get("defaults") or {}, value.get("managed_by")
    if not isinstance(entries, list):
        raise InvalidInput(document.place(("jobs",)), "jobs must be a list", "begin each job with `- name:`")
    if not isinstance(defaults, dict):
        raise InvalidInput(document.place(("defaults",)), "defaults must be a mapping", "give fields of jobs")
    if "name" in defaults:
        raise InvalidInput(document.place(("defaults", "name")), "a name is each job's own", "take it out")
    if owner is not None:
        try:
            check_name("managed_by", str(owner))
        except InvalidInput as error:
            raise _at(document, ("managed_by",), error) from None
    return entries, defaults, None if owner is None else str(owner)


def _wanted(document: Document, path: ValuePath, entry: Any, defaults: dict[str, Any], owner: str | None) -> Wanted:
    if not isinstance(entry, dict):
        raise InvalidInput(document.place(path), "a job must be a mapping", "begin it with `- name:`")
    merged = _over(defaults, entry)
    if owner is not None:
        labels = merged.get("labels") or {}
        if isinstance(labels, dict):
            if labels.get(MANAGED_BY, owner) != owner:
                fix = f"take the label {MANAGED_BY} out"
                raise InvalidInput(document.place((*path, "labels")), "managed_by says something else", fix)
            merged["labels"] = {**labels, MANAGED_BY: owner}
    try:
        read = msgspec.json.decode(msgspec.json.encode(merged), type=JobEntry)
        if isinstance(read.task, msgspec.UnsetType):
            raise InvalidInput("task", "the job has no task", "name one, here or in the defaults")
        fields = {name: getattr(read, name) for name in JobSpec.__struct_fields__}
        spec = JobSpec(**{name: value for name, value in fields.items() if value is not msgspec.UNSET})
        check_spec(spec)
    except msgspec.ValidationError as error:
        raise _invalid(document, path, entry, defaults, error) from None
    except NoonmarkError as error:
        raise _at(document, path, error, entry) from None
    return Wanted(document.place(path), spec, None if isinstance(read.paused, msgspec.UnsetType) else read.paused)


def check_spec(spec: JobSpec) -> None:
    """What the server would refuse whatever else it knows."""
    check_name("name", spec.name)
    check_priority(spec.priority)
    check_input(bytes(spec.input).decode())
    check_policy(Policy(spec.task, spec.queue, spec.timeout_s, spec.start_deadline_s, spec.retry, spec.delivery))
    validate(spec.schedule, own_time_us())


def _over(defaults: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    merged = defaults | entry
    for name in _MERGED:
        if isinstance(defaults.get(name), dict) and isinstance(entry.get(name), dict):
            merged[name] = defaults[name] | entry[name]
    return merged


def _invalid(
    document: Document, path: ValuePath, entry: dict[str, Any], defaults: dict[str, Any], error: msgspec.ValidationError
) -> InvalidInput:
    text = str(error)
    at = _AT.search(text)
    where = steps(at["path"]) if at else ()
    unknown = re.match(r"Object contains unknown field `(.+?)`", text)
    if unknown:
        where = (*where, unknown[1])
    message = text[: at.start()] if at else text
    problem = InvalidInput(".".join(map(str, where)) or "job", message, "see docs/manifest.schema.json")
    if where and where[0] not in entry and where[0] in defaults:
        return _at(document, ("defaults",), problem, defaults)
    return _at(document, path, problem, entry)


def _at(document: Document, path: ValuePath, error: NoonmarkError, within: Any = None) -> InvalidInput:
    """The same error, with the line of the field that it names."""
    field = steps(f".{error.field}") if error.field else ()
    if within is not None and field and field[0] not in within:
        field = ()
    label = f"{within['name']}: " if isinstance(within, dict) and isinstance(within.get("name"), str) else ""
    named = f"{error.field}: " if error.field else ""
    return InvalidInput(document.place((*path, *field)), f"{label}{named}{error.message}", error.fix or "see the docs")
