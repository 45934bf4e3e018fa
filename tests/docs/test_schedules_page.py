"""Every example of docs/schedules.md is carried out: the page says what happens, or a test fails."""

import ast
import re
import shlex
from collections.abc import Callable
from datetime import timedelta

import msgspec
import pytest

from noonmark.model.job import MAX_CATCH_UP, MAX_CATCH_UP_WINDOW_S
from noonmark.schedule import English, ScheduleSpec, read_schedule, validate
from noonmark.schedule.bounds import MAX_RUNS
from noonmark.schedule.calendar.rules import MAX_RULE, canonical_rule
from noonmark.schedule.canonical import MAX_RULES
from noonmark.schedule.english import tokens as english
from noonmark.schedule.forms import cron_text, interval, rule_text
from noonmark.schedule.forms.cron_text import canonical_cron
from noonmark.schedule.forms.period import MAX_PERIOD_S
from noonmark.schedule.forms.times import MAX_TIMES
from noonmark.schedule.preview import MAX_FIRES
from noonmark.schedule.text import MAX_TEXT
from noonmark.schedule.validation import MAX_JITTER_S, MAX_OPEN
from noonmark.wire.resources import JobSpec
from tests.cli.conftest import Noonmark
from tests.docs import reading
from tests.docs.page import ROOT, Page, code, codes

PAGE = Page(ROOT / "docs" / "schedules.md")
PREVIEW_CODE = ROOT / "src" / "noonmark" / "schedule" / "preview"
ENGLISH_CODE = ROOT / "src" / "noonmark" / "schedule" / "english"
LIMITS = {
    "characters of a schedule": MAX_TEXT,
    "characters of a cron expression": cron_text._MAX_LENGTH,
    "cron expressions in one schedule": cron_text._MAX_EXPRESSIONS,
    "characters of an English sentence": english.MAX_LENGTH,
    "characters of an RRULE": rule_text._MAX_TEXT,
    "dates in EXDATE or RDATE": rule_text._MAX_DATES,
    "`COUNT` of an RRULE": rule_text.MAX_COUNT,
    "repetitions of an ISO 8601 interval": interval.MAX_COUNT,
    "longest period, in days": timedelta(seconds=MAX_PERIOD_S).days,
    "times in a list": MAX_TIMES,
    "rules in `exclude` or `only`": MAX_RULES,
    "characters of a rule": MAX_RULE,
    "`max_runs`": MAX_RUNS,
    "`jitter_s`": MAX_JITTER_S,
    "occurrences within the jitter window at once": MAX_OPEN,
    "`misfire.limit`": MAX_CATCH_UP,
    "`misfire.window_s`": MAX_CATCH_UP_WINDOW_S,
    "fires in a preview": MAX_FIRES,
}


def rows(least: int, *header: str) -> list[tuple[str, ...]]:
    """The rows of such tables; so many at least, so that none goes unseen when a header is changed."""
    found = PAGE.rows(*header)
    assert len(found) >= least, f"{len(found)} rows under {header}"
    return found


def times(cell: str) -> list[str]:
    return [] if cell in ("never", "refused", "fails") else codes(cell)


@pytest.mark.parametrize(("_form", "text", "spec"), rows(11, "form", "you write", "as JSON"))
def test_forms_are_the_same_as_text_and_as_json(_form: str, text: str, spec: str) -> None:
    decoded = msgspec.json.decode(code(spec), type=ScheduleSpec)
    assert reading.same(read_schedule(code(text)), decoded)


@pytest.mark.parametrize(("text", "canonical", "words"), rows(60, "you write", "it is understood as", "in words"))
def test_what_is_understood(text: str, canonical: str, words: str) -> None:
    assert reading.understood(code(text)) == (code(canonical), words)
    assert reading.understood(code(canonical))[0] == code(canonical)
    if isinstance(read_schedule(code(text)), English):
        assert reading.same(read_schedule(words), read_schedule(code(text)))


@pytest.mark.parametrize(("text", "_meaning"), rows(5, "you write", "it means"))
def test_what_is_explained_is_understood(text: str, _meaning: str) -> None:
    reading.understood(code(text))


@pytest.mark.parametrize(
    ("text", "tz", "options", "days", "fires"), rows(30, "schedule", "zone", "options", "days", "fires")
)
def test_fires_of_days(text: str, tz: str, options: str, days: str, fires: str) -> None:
    spec = reading.spec_of(code(text), code(tz), options)
    assert reading.fires_on(spec, code(tz), code(days)) == times(fires)


@pytest.mark.parametrize(
    ("text", "tz", "options", "after", "fires"), rows(20, "schedule", "zone", "options", "after", "next fires")
)
def test_next_fires(text: str, tz: str, options: str, after: str, fires: str) -> None:
    """A cell that says `no more` lists all of them."""
    spec = reading.spec_of(code(text), code(tz), options)
    count = 100 if fires.endswith("and no more") else len(times(fires))
    assert count > 0
    assert reading.fires_after(spec, code(tz), code(after), count) == times(fires)


@pytest.mark.parametrize(("job", "text", "becomes"), rows(7, "job", "you write", "it becomes"))
def test_hashes(job: str, text: str, becomes: str) -> None:
    assert canonical_cron(code(text), code(job)) == code(becomes)


@pytest.mark.parametrize(("rule", "canonical", "_covers"), rows(14, "rule", "canonical", "it covers"))
def test_rules(rule: str, canonical: str, _covers: str) -> None:
    assert canonical_rule(code(rule), "schedule.exclude[0]") == code(canonical)


@pytest.mark.parametrize(
    ("text", "options", "why", "fix"),
    [
        *((text, "", why, fix) for text, why, fix in rows(45, "refused", "why", "write instead")),
        *rows(6, "refused", "options", "why", "write instead"),
    ],
)
def test_refused(text: str, options: str, why: str, fix: str) -> None:
    """A fix that ends with … is the beginning of a longer one."""
    message, found = reading.refusal(code(text), None, options)
    assert why == message
    assert found.startswith(fix.removesuffix("…").rstrip()) if fix.endswith("…") else found == fix


PEERS = (("cronsim", "cron expression", 6), ("croniter", "cron expression", 9), ("dateutil", "rule", 6))


@pytest.mark.parametrize(
    ("peer", "row"),
    [(peer, row) for peer, first, least in PEERS for row in rows(least, first, "after", "Noonmark", peer)],
)
def test_where_others_differ(peer: str, row: tuple[str, ...]) -> None:
    text, after, ours, theirs, _why = row
    ask: Callable[[str, str, int], list[str]] = getattr(reading, f"{peer}_fires")
    if ours == "refused":
        assert reading.refusal(code(text))
    else:
        assert reading.fires_after(read_schedule(code(text)), "UTC", code(after), len(times(ours))) == times(ours)
    assert ask(code(text), code(after), len(times(ours)) or 1) == (
        [theirs] if theirs in ("refused", "fails") else times(theirs)
    )
    assert ours != theirs


@pytest.mark.parametrize("block", PAGE.blocks("console"))
def test_commands(noonmark: Noonmark, block: str) -> None:
    line, _, shown = block.partition("\n")
    assert line.startswith("$ noonmark schedule explain ")
    assert reading.ran(noonmark, line.removeprefix("$ ")) == shown.rstrip()


def test_there_are_commands() -> None:
    assert len(PAGE.blocks("console")) >= 4


def test_requests_get_their_responses() -> None:
    requests, responses = PAGE.blocks("json request"), PAGE.blocks("json response")
    assert len(requests) == len(responses) >= 1
    for request, response in zip(requests, responses, strict=True):
        assert reading.answered(request) == msgspec.json.decode(response)


def test_jobs_can_be_created() -> None:
    jobs = [msgspec.json.decode(block, type=JobSpec) for block in PAGE.blocks("json job")]
    assert len(jobs) >= 2
    for job in jobs:
        validate(job.schedule, reading.us(reading.CREATED), job.jitter_s, f"1/{job.name}")


def test_python_runs() -> None:
    blocks = PAGE.blocks("python")
    assert len(blocks) >= 2
    for block in blocks:
        exec(compile(block, str(PAGE.path), "exec"), {})


WARNINGS = rows(15, "code", "for example", "what is said")


@pytest.mark.parametrize(("name", "arguments", "said"), [row for row in WARNINGS if row[1]])
def test_warnings(noonmark: Noonmark, name: str, arguments: str, said: str) -> None:
    found = reading.warned(noonmark, code(arguments))
    assert (code(name), said) in [(notice.code, notice.message) for notice in found.warnings]


def test_every_warning_is_listed() -> None:
    trees = [ast.parse(file.read_text("utf-8")) for file in PREVIEW_CODE.glob("*.py")]
    calls = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Call)]
    notices = [call for call in calls if isinstance(call.func, ast.Name) and call.func.id == "Notice"]
    given = {ast.literal_eval(call.args[0]) for call in notices}
    assert len(given) > 15
    assert {code(name) for name, *_ in WARNINGS} == given


def test_limits() -> None:
    assert {name: value.replace(",", "") for name, value in rows(18, "limit", "value")} == {
        name: str(value) for name, value in LIMITS.items()
    }


def test_the_grammar_names_words_that_are_read() -> None:
    [grammar] = PAGE.blocks("ebnf")
    words = {word for quoted in re.findall(r'"([^"]+)"', grammar) for word in re.findall(r"[a-z]{2,}", quoted)}
    source = "".join(file.read_text("utf-8") for file in ENGLISH_CODE.glob("*.py")).lower()
    assert len(words) > 80
    assert [word for word in sorted(words) if not re.search(rf"\b{word}\b", source)] == []


def test_links_lead_somewhere() -> None:
    assert len(PAGE.links) >= 25
    assert PAGE.broken_links() == []


def test_commands_name_options_that_exist(noonmark: Noonmark) -> None:
    """Those that the prose names without running them."""
    commands = "noonmark schedule explain --help", "noonmark job create --help"
    shown = "".join(reading.ran(noonmark, command) for command in commands)
    options = {word for command in codes(PAGE.prose) for word in _flags(command)}
    assert len(options) >= 20
    assert [option for option in options if f"{option} " not in shown] == []


def _flags(command: str) -> list[str]:
    if not re.match(r'--|noonmark schedule|"', command):
        return []
    return [word for word in shlex.split(command) if word.startswith("--")]
