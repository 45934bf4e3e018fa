"""What the worker of the command line's tests can do."""

from noonmark.app import App

app = App()


@app.task(name="greet")
async def greet(name: str = "world") -> str:
    return f"Hello, {name}!"


@app.task(name="fail")
async def fail() -> None:
    raise ValueError("it went wrong")
