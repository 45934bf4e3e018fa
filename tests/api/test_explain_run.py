"""The story of a run: from facts alone, and through the API. With real workers: tests/node/test_again.py."""

import pytest

from noonmark.api.explain.run_story import RunFacts, length, story_of_run
from noonmark.clock import SECOND_US
from noonmark.model.ids import JobId, run_text
from noonmark.model.policy import Retry
from noonmark.model.reason import SENTENCES, Outcome, Reason
from noonmark.schedule import Cron, Now
from noonmark.store.reads.runs import AttemptRecord, RunRecord
from noonmark.store.reads.story import AuditFact, Holder, OwnerlessGap, Serving
from noonmark.wire.resources import JobSpec
from tests.api.conftest import Caller, RunningNode

T0 = 1_800_000_000_000_000
KEY = (JobId(4096 + 3), T0)
ASKED = (JobId(4096 + 3), T0 + 7)
SPEC = JobSpec(name="a", task="greet", schedule=Cron("0 9 * * *", tz="Europe/Berlin"), retry=Retry(max_attempts=3))


def record(reason: Reason = Reason.SCHEDULED, state: str | None = "waiting", **more: object) -> RunRecord:
    plain = RunRecord(T0, T0, 1, 5, 0, reason, None, state, None, None)
    return plain._replace(**more)  # type: ignore[arg-type]


def attempt(
    number: int, outcome: Outcome, reason: Reason, at_s: float, *, final: bool, error: str = ""
) -> AttemptRecord:
    at_us = T0 + round(at_s * SECOND_US)
    return AttemptRecord(number, outcome, reason, final, 7, at_us, at_us, at_us, at_us + SECOND_US, error or None, None)


def facts(run: RunRecord, **more: object) -> RunFacts:
    plain = RunFacts(KEY, run, [], SPEC, [], None, {}, None, None, T0 + 60 * SECOND_US)
    return plain._replace(**more)  # type: ignore[arg-type]


def story(known: RunFacts) -> list[tuple[str, str]]:
    return [(line.code, line.sentence) for line in story_of_run(known)]


def codes(known: RunFacts) -> list[str]:
    return [code for code, _ in story(known)]


def test_why_it_exists() -> None:
    code, sentence = story(facts(record()))[0]
    assert code == "scheduled"
    assert "09:00" in sentence
    assert "TZ=Europe/Berlin 0 9 * * *" in sentence
    late = facts(record(Reason.CAUGHT_UP), gap=OwnerlessGap(T0 - 5, T0 + 90 * SECOND_US))
    assert story(late)[0][0] == "caught_up"
    assert "90.0 s late" in story(late)[0][1]
    assert codes(facts(record(), spec=JobSpec(name="a", task="t", schedule=Now())))[0] == "once"
    assert codes(facts(record(Reason.BACKFILLED)))[0] == "backfilled"


def test_who_asked_for_it() -> None:
    def submitted(told: str, door: str = "api") -> AuditFact:
        return AuditFact(T0 + 1, "ana", door, "run.submit", "job_x", told)

    triggered = record(Reason.TRIGGERED)
    named = submitted(f'{{"count":1,"runs":["{run_text(ASKED)}"]}}')
    assert story(facts(triggered, key=ASKED, audit_facts=[named]))[0] == ("triggered", "ana asked for it")
    another = submitted('{"count":1,"runs":["run_1_1"]}')
    assert story(facts(triggered, key=ASKED, audit_facts=[another]))[0][1] == "somebody asked for it through the API"
    one_of_many = submitted('{"count":500,"runs":["run_1_1"]}')
    assert story(facts(triggered, key=ASKED, audit_facts=[one_of_many]))[0][1] == "ana asked for it"
    by_sql = submitted('{"count":1}', "sql")
    assert codes(facts(record(Reason.SUBMITTED), key=ASKED, audit_facts=[by_sql]))[0] == "submitted"


def test_what_was_tried_and_why_it_gave_up() -> None:
    traceback = "Traceback (most recent call last):\n  File x\nOSError: no luck\n"
    tried = [
        attempt(1, Outcome.FAILED, Reason.FAILED, 0, final=False, error=traceback),
        attempt(2, Outcome.LOST, Reason.WORKER_LOST, 9, final=False),
        attempt(3, Outcome.TIMED_OUT, Reason.ATTEMPTS_EXHAUSTED, 20, final=True),
    ]
    dead = record(
        Reason.ATTEMPTS_EXHAUSTED, None, outcome=Outcome.TIMED_OUT, finished_us=T0 + 21 * SECOND_US, attempt=3
    )
    told = story(facts(dead, attempts=tried, workers={7: "w-eu"}))
    assert [code for code, _ in told] == [
        "scheduled", "attempt_began", "attempt_failed", "backoff", "attempt_began", "attempt_lost", "backoff",
        "attempt_began", "attempt_timed_out", "gave_up",
    ]  # fmt: skip
    sentences = [sentence for _, sentence in told]
    assert sentences[1] == "attempt 1 began on worker 7 (w-eu)"
    assert sentences[2] == "attempt 1 failed after 1.0 s: OSError: no luck"
    assert sentences[3] == "attempt 1 of 3 was used up; the next was due in 8.0 s"
    assert sentences[-1] == "it became a dead letter: the last of its 3 attempts failed"
    refused = [attempt(1, Outcome.FAILED, Reason.NOT_RETRYABLE, 0, final=True)]
    assert "does not retry errors of this type" in story(facts(dead, attempts=refused))[-1][1]


@pytest.mark.parametrize(
    ("outcome", "code", "words"),
    [
        (Outcome.LOST, "attempt_lost", "its worker said nothing of it any more"),
        (Outcome.RELEASED, "attempt_released", "the worker handed it back without running it to the end"),
        (Outcome.TIMED_OUT, "attempt_timed_out", "its time was up"),
    ],
)
def test_why_a_run_that_runs_at_most_once_is_not_repeated(outcome: Outcome, code: str, words: str) -> None:
    ended = record(Reason.AT_MOST_ONCE, None, outcome=outcome, finished_us=T0 + SECOND_US, attempt=1)
    told = story(facts(ended, attempts=[attempt(1, outcome, Reason.AT_MOST_ONCE, 0, final=True)]))
    assert [line[0] for line in told] == ["scheduled", "attempt_began", code, "gave_up"]
    assert words in told[2][1]
    assert told[3][1] == f"it became a dead letter: {SENTENCES[Reason.AT_MOST_ONCE]}"


@pytest.mark.parametrize(
    ("outcome", "reason", "code", "words"),
    [
        (Outcome.EXPIRED, Reason.START_DEADLINE_PASSED, "expired", "start deadline"),
        (Outcome.CANCELLED, Reason.CANCELLED, "cancelled", "cancelled"),
        (Outcome.WITHDRAWN, Reason.JOB_DELETED, "withdrawn", "deleted"),
        (Outcome.WITHDRAWN, Reason.SKIPPED, "skipped", "ana asked to skip"),
    ],
)
def test_why_it_never_started(outcome: Outcome, reason: Reason, code: str, words: str) -> None:
    end = attempt(0, outcome, reason, -600, final=True)._replace(granted_us=None, started_us=None)
    skip = AuditFact(end.finished_us, "ana", "api", "job.skip", "job_x", None)
    ended = record(reason, None, outcome=outcome, finished_us=end.finished_us)
    told = story(facts(ended, attempts=[end], audit_facts=[skip]))
    assert (told[0][0], told[-1][0]) == ("scheduled", code)
    assert words in told[-1][1]


def test_where_it_is_now() -> None:
    due = record(due_us=T0 + 90 * SECOND_US)
    assert story(facts(due))[1:] == [
        ("due_later", "the job's jitter made it due 90.0 s later"),
        ("due", "it is due in 30.0 s"),
    ]
    assert codes(facts(record(), serving=Serving(0, 0, 0)))[-1] == "no_worker"
    assert story(facts(record(), serving=Serving(2, 8, 8)))[-1] == (
        "no_place",
        "it has been due for 60.0 s, and all 8 places of the 2 workers that serve the queue 'default' and the task"
        " 'greet' are taken",
    )
    assert codes(facts(record(), serving=Serving(1, 8, 3)))[-1] == "ready"
    pause = AuditFact(T0 + 5, "ana", "cli", "job.pause", "job_x", None)
    assert story(facts(record(state="parked"), audit_facts=[pause]))[1:] == [
        ("paused", "ana paused the job"),
        ("parked", "it waits until its paused job is resumed"),
    ]
    running = facts(record(state="running"), holder=Holder(7, T0 + 50 * SECOND_US))
    assert story(running)[-1] == ("running", "attempt 1 is running on worker 7, 10.0 s so far")


def test_lengths_are_told_as_people_read_them() -> None:
    told = [length(us) for us in (5_000, 1_500_000, 300 * SECOND_US, 5 * 3600 * SECOND_US, 10 * 86_400 * SECOND_US)]
    assert told == ["5 ms", "1.5 s", "5 min", "5 h", "10 days"]


async def test_through_the_api(call: Caller, node: RunningNode) -> None:
    await call("POST", "/v1/jobs", {"name": "a", "task": "greet"})
    run = (await call("POST", "/v1/jobs/a/trigger")).json
    node.clock.advance(1.0)
    told = (await call("GET", f"/v1/runs/{run['id']}/explanation")).json
    assert (told["run"], told["state"]) == (run["id"], "waiting")
    assert [line["code"] for line in told["story"]] == ["triggered", "no_worker"]
    assert told["story"][0]["at"] == run["nominal_at"]
    await call("POST", f"/v1/runs/{run['id']}/cancel")
    told = (await call("GET", f"/v1/runs/{run['id']}/explanation")).json
    assert (told["state"], told["story"][-1]["code"]) == ("cancelled", "cancelled")
    assert (await call("GET", "/v1/runs/run_1_1/explanation")).status == 404
