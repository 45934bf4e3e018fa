"""What a task may be given is checked where it is bound."""

from dataclasses import dataclass
from datetime import date
from typing import Any

import msgspec
import pytest

from noonmark import App
from noonmark.client.signature import Signature
from noonmark.model.reason import Outcome
from noonmark.worker.invoke import BadInput, call, succeeded


@dataclass
class Place:
    city: str
    floor: int = 0


class Unknown:
    pass


def report(day: date, place: Place, copies: int = 1, *notes: str, **extra: float) -> list[date]:
    return [day] * copies


SIGNATURE = Signature("report", report)
BERLIN = {"city": "Berlin"}


@pytest.mark.parametrize(
    ("args", "kwargs", "input"),
    [
        ((date(2026, 3, 27), Place("Berlin")), {}, ["2026-03-27", {"city": "Berlin", "floor": 0}]),
        ((), {"day": "2026-03-27", "place": BERLIN}, {"day": "2026-03-27", "place": BERLIN}),
        (("2026-03-27",), {"place": BERLIN, "x": 1}, {"day": "2026-03-27", "place": BERLIN, "x": 1}),
        (("2026-03-27", BERLIN, 2, "a", "b"), {}, ["2026-03-27", BERLIN, 2, "a", "b"]),
    ],
)
def test_what_fits_is_bound(args, kwargs, input):
    raw = SIGNATURE.bind(args, kwargs)
    assert msgspec.json.decode(raw) == input
    assert msgspec.json.decode(SIGNATURE.check_input(raw)) == input
    assert msgspec.json.decode(SIGNATURE.check_input(input)) == input


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, "report: missing a required argument: 'day'"),
        ((), {"day": "2026-03-27"}, "report: missing a required argument: 'place'"),
        (("tomorrow", BERLIN), {}, "report: parameter 'day': Invalid RFC3339"),
        (("2026-03-27", {"town": "Berlin"}), {}, "report: parameter 'place': Object missing required field `city`"),
        (("2026-03-27", BERLIN, "two"), {}, "report: parameter 'copies': Expected `int`, got `str`"),
        (("2026-03-27", BERLIN, 2, 3), {}, "report: parameter 'notes': Expected `str`, got `int`"),
        (("2026-03-27", BERLIN), {"x": "y"}, "report: parameter 'extra': Expected `float`, got `str`"),
        ((Unknown(), BERLIN), {}, "report: parameter 'day' cannot be sent as JSON"),
    ],
)
def test_what_does_not_fit_is_named(args, kwargs, message):
    with pytest.raises(TypeError) as caught:
        SIGNATURE.bind(args, kwargs)
    assert str(caught.value).startswith(message)


def test_by_position_alone():
    def only(first: int, /, second: int) -> None: ...

    assert bytes(Signature("only", only).bind((1, 2), {})) == b"[1,2]"
    with pytest.raises(TypeError, match="'first' is given by position"):
        Signature("only", only).bind((1,), {"second": 2})


def test_what_no_json_could_become_is_not_checked():
    def odd(thing: Unknown, other: "Nowhere") -> Unknown: ...  # type: ignore[name-defined] # noqa: F821

    assert bytes(Signature("odd", odd).bind((1, 2), {})) == b"[1,2]"
    assert Signature("odd", odd).result({"a": 1}) == {"a": 1}


def test_a_result_is_what_the_annotation_says():
    assert SIGNATURE.result(["2026-03-27"]) == [date(2026, 3, 27)]
    with pytest.raises(TypeError, match="report: its result is not what it says it returns"):
        SIGNATURE.result(7)


def test_a_worker_gets_what_the_annotations_say():
    seen: list[Any] = []

    def keep(day: date, place: Place, count: int) -> None:
        seen.extend([day, place, count])

    task = App().task(keep)
    text = bytes(task.bind(date(2026, 3, 27), Place("Berlin"), 3)).decode()
    assert succeeded(call(task.function, text, task.convert)).outcome == Outcome.SUCCEEDED
    assert seen == [date(2026, 3, 27), Place("Berlin"), 3]
    with pytest.raises(BadInput, match="parameter 'day'"):
        call(task.function, '["tomorrow",{"city":"Berlin"},3]', task.convert)


def test_plain_parameters_cost_the_worker_nothing():
    def plain(a: int, b: str, c: dict, *rest: float) -> None: ...

    assert App().task(plain).convert is None
