"""Configurations that are Python: loaded by running them, as their own program would."""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from noonmark.errors import InvalidInput


def load(target: str) -> tuple[ModuleType, str]:
    """`file.py`, `package.module` or either with `:attribute`: the module, and the attribute's name or nothing."""
    name, _, attribute = target.partition(":")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        if name.endswith(".py") or "/" in name:
            return _from_file(Path(name)), attribute
        return importlib.import_module(name), attribute
    except InvalidInput:
        raise
    except ModuleNotFoundError as error:
        fix = f"run this where {error.name!r} is installed"
        raise InvalidInput(target, f"it needs the module {error.name!r}, which is not here", fix) from error
    except Exception as error:
        kind = type(error).__name__
        raise InvalidInput(
            target, f"loading it raised {kind}: {error}", "it must load as in its own program"
        ) from error


def attribute_of(holder: Any, name: str, target: str) -> Any:
    for part in name.split("."):
        if isinstance(holder, dict) and part in holder:
            holder = holder[part]
        elif hasattr(holder, part):
            holder = getattr(holder, part)
        else:
            raise InvalidInput(target, f"there is no {part!r} in it", "name the object after a colon")
    return holder


def _from_file(path: Path) -> ModuleType:
    if not path.is_file():
        raise InvalidInput(str(path), "there is no such file", "name a .py file or a module")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise InvalidInput(str(path), "this is no Python file", "name a .py file or a module")
    sys.path.insert(0, str(path.parent.absolute()))
    try:
        module = importlib.util.module_from_spec(spec)
        sys.modules.setdefault(path.stem, module)
        spec.loader.exec_module(module)
    finally:
        sys.path.pop(0)
    return module
