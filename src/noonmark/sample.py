"""The tasks that `noonmark up` runs, and a first example: `noonmark worker noonmark.sample:app`."""

from noonmark import App

app = App()


@app.task(timeout_s=60)
async def hello(name: str = "world") -> str:
    """An async task: thousands of them share one event loop."""
    return f"Hello, {name}!"


@app.task(timeout_s=60)
def add(a: float, b: float) -> float:
    """A blocking task: it runs in a thread."""
    return a + b
