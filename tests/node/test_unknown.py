"""A commit whose end nobody knows is not called undone."""

from typing import Any

import msgspec
import pytest

from noonmark.node import committer
from noonmark.store.fence import CommitUnknown
from noonmark.wire.resources import JobSpec
from tests.conftest import Engine
from tests.node.calling import calling


@pytest.mark.parametrize("whole_job", [False, True])
async def test_a_cancellation_with_an_unknown_end_says_so(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, whole_job: bool
) -> None:
    """The run waits in memory; the commit that ends it is durable, and its answer is lost."""
    await engine.start_node()
    client = engine.client()
    await client.declare_tasks(["nobody"])
    job = await client.create_job(JobSpec(name="waits", task="nobody", input=msgspec.Raw(b"null")))
    run = await client.trigger_job("waits")
    commit_batch = committer.commit_batch

    async def answer_lost(connection: Any, node_id: int, batch: Any) -> Any:
        ended = bool(batch.ended)
        followers = await commit_batch(connection, node_id, batch)
        if ended:
            raise CommitUnknown("the answer was lost")
        return followers

    monkeypatch.setattr(committer, "commit_batch", answer_lost)
    path = f"/v1/jobs/{job.id}/cancel" if whole_job else f"/v1/runs/{run}/cancel"
    async with calling(engine) as call:
        answer = await call("POST", path)
    assert (answer.status, answer.json["code"]) == (504, "outcome_unknown")
    assert (await client.get_run(run)).state == "cancelled"
