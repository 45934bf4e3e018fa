"""Flask: one request submits a run, another waits for its result.

flask --app flask_app:web run
noonmark worker flask_app:app
"""

from flask import Flask, request

from noonmark import App

app = App()


@app.task
def greet(name: str) -> str:
    return f"Hello, {name}!"


web = Flask(__name__)


@web.post("/greetings")
def submit() -> tuple[dict[str, str], int]:
    return {"run": greet.sync.submit(name=request.args["name"])}, 202


@web.get("/greetings/<run_id>")
def read(run_id: str) -> dict[str, str]:
    return {"greeting": greet.sync.handle(run_id).result(timeout_s=10)}
