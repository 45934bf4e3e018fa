"""FastAPI: one request submits a run, another waits for its result.

uvicorn fastapi_app:web
noonmark worker fastapi_app:app
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from noonmark import App

app = App()


@app.task
async def greet(name: str) -> str:
    return f"Hello, {name}!"


@asynccontextmanager
async def lifespan(web: FastAPI) -> AsyncIterator[None]:
    async with app:
        yield


web = FastAPI(lifespan=lifespan)


@web.post("/greetings", status_code=202)
async def submit(name: str) -> dict[str, str]:
    return {"run": await greet.submit(name=name)}


@web.get("/greetings/{run_id}")
async def read(run_id: str) -> dict[str, str]:
    return {"greeting": await greet.handle(run_id).result(timeout_s=10)}
