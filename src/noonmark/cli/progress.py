"""A bar for long work: on a terminal only, and on stderr, so that piped output stays clean."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

WORTH_A_BAR = 50


@contextmanager
def progress(title: str, total: int | None) -> Iterator[Callable[..., None]]:
    """Gives `advance(count=1)`. Without a total the bar only moves."""
    from noonmark.cli.show import console

    screen = console(stderr=True)
    if not screen.is_terminal or (total is not None and total < WORTH_A_BAR):
        yield lambda count=1: None
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=screen, transient=True) as bar:
        task = bar.add_task(title, total=total)
        yield lambda count=1: bar.advance(task, count)
