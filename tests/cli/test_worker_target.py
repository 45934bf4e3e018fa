"""`module:app` is found in the current folder, or it is said what is wrong with it."""

import sys

import pytest

from noonmark.cli.worker import load_app


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Writes a module of that name into the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def write(name: str, text: str) -> None:
        (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.delitem(sys.modules, name, raising=False)

    return write


def test_an_app_in_the_current_folder(module):
    module("tasks_a", "import noonmark\nclass box: app = noonmark.App()\napp = box.app\n")
    assert load_app("tasks_a:app") is load_app("tasks_a:box.app")


def test_the_sample():
    assert sorted(load_app("noonmark.sample:app").tasks) == ["add", "hello"]


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("noonmark.sample", "does not name an app"),
        (":app", "does not name an app"),
        ("nowhere_at_all:app", "there is no module 'nowhere_at_all'"),
        ("noonmark.nowhere:app", "there is no module 'noonmark.nowhere'"),
        ("noonmark.sample:nobody", "has no 'nobody'"),
        ("noonmark.sample:hello", "is not an App but of type Task"),
    ],
)
def test_refused(noonmark, target, said):
    assert said in noonmark.refuses("worker", target)


def test_a_module_that_raises_says_where(noonmark, module):
    module("tasks_b", "x = 1\nx.nope\n")
    shown = noonmark.refuses("worker", "tasks_b:app")
    assert "importing 'tasks_b' raised AttributeError" in shown
    assert "tasks_b.py:2" in shown


def test_a_missing_dependency_is_not_blamed_on_the_module(noonmark, module):
    module("tasks_c", "import nowhere_at_all\n")
    assert "importing 'tasks_c' raised ModuleNotFoundError" in noonmark.refuses("worker", "tasks_c:app")


def test_an_app_without_tasks(noonmark, module):
    module("tasks_d", "import noonmark\napp = noonmark.App()\n")
    assert "has no tasks" in noonmark.refuses("worker", "tasks_d:app")
