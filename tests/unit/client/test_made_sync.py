"""The blocking SDK is what the tool makes of the async one."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[3]
SYNC = ROOT / "src" / "noonmark" / "client" / "sync"


def tool() -> ModuleType:
    spec = spec_from_file_location("make_sync", ROOT / "tools" / "make_sync.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", tool().SOURCES)
def test_it_is_current(name: str) -> None:
    assert (SYNC / f"{name}.py").read_text("utf-8") == tool().make(name), "run `make sync`"


def test_nothing_else_is_there() -> None:
    assert {path.stem for path in SYNC.glob("*.py")} == {*tool().SOURCES, "__init__"}


def test_nothing_async_is_left() -> None:
    for name in tool().SOURCES:
        code = (SYNC / f"{name}.py").read_text("utf-8")
        assert not {"async", "await", "asyncio", "aiohttp"} & set(code.split('"""')[-1].replace("(", " ").split())
