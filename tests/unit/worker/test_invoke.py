"""Arguments, results and errors, in and out of a report."""

import msgspec
import pytest

from noonmark.model.reason import Outcome
from noonmark.worker.invoke import MAX_ERROR_BYTES, BadInput, arguments, call, error_types, failed, shortened, succeeded


@pytest.mark.parametrize(
    ("text", "args", "kwargs"),
    [
        ("null", [], {}),
        ('{"a": 1}', [], {"a": 1}),
        ("[1, 2]", [1, 2], {}),
        ("7", [7], {}),
        ('"word"', ["word"], {}),
        ("false", [False], {}),
    ],
)
def test_arguments(text, args, kwargs):
    assert arguments(text) == (args, kwargs)


def test_input_that_is_not_json():
    with pytest.raises(BadInput, match="not JSON"):
        arguments("{")


def test_a_type_error_from_inside_is_not_blamed_on_the_input():
    def function(a: int) -> int:
        return a + "1"  # type: ignore[operator]

    with pytest.raises(TypeError, match="unsupported operand"):
        call(function, "[1]")
    with pytest.raises(BadInput, match="missing a required argument: 'a'"):
        call(function, None)


def test_error_types_name_the_whole_line():
    assert error_types(ValueError) == "builtins.ValueError ValueError builtins.Exception Exception"
    assert error_types(SystemExit) == "builtins.SystemExit SystemExit"


def test_a_long_error_keeps_its_beginning_and_its_end():
    text = shortened("first" + "ä" * 100_000 + "last")
    assert len(text.encode()) <= MAX_ERROR_BYTES
    assert text.startswith("first")
    assert text.endswith("last")


def test_an_error_holds_only_what_can_be_stored():
    ending = failed(ValueError("nul \0 and half a pair \ud800"))
    assert ending.outcome == Outcome.FAILED
    assert "\0" not in ending.error
    msgspec.msgpack.encode(ending)


def test_an_error_whose_text_cannot_be_made():
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    assert "Mute" in failed(Mute()).error


def test_results():
    assert succeeded(None).result is None
    assert succeeded({"a": [1, 2]}).result == '{"a":[1,2]}'
    assert "70002 bytes dropped" in succeeded("x" * 70_000).result
    assert "not JSON" in succeeded(object()).result
