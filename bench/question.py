"""What every benchmark file offers."""

import argparse
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple


class Sample(NamedTuple):
    """One repeat: its figures, and the settings under which they came about."""

    figures: Mapping[str, float]
    settings: Mapping[str, Any]


class Question(NamedTuple):
    name: str
    asks: str
    run: Callable[[argparse.Namespace], Awaitable[Sample]]
    add_options: Callable[[argparse.ArgumentParser], None]
    repeats: int = 3
    targets: Mapping[str, float] = {}
    """Figure to the bound it should keep: `_per_s` and `ratio` at least, everything else at most."""
