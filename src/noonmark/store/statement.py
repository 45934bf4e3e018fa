"""Statements by name: `statement("insert_runs")` is the text of `sql/insert_runs.sql`."""

from functools import cache
from importlib import resources


@cache
def statement(name: str) -> str:
    return resources.files("noonmark.store").joinpath("sql", f"{name}.sql").read_text()
