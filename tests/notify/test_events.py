"""What is told of: failures, recoveries, lateness and silence; to whom, and how often."""

import aiohttp
import pytest

from noonmark.errors import InvalidInput, NotFound
from noonmark.schedule.spec import Every
from noonmark.wire.notify import SubscriptionPatch, SubscriptionSpec, Webhook
from tests.conftest import Engine, eventually
from tests.node.conftest import Stage
from tests.node.tasks import Seen
from tests.notify.conftest import QUICK, Receiver, Subscribe


async def passes(stage: Stage, seconds: float) -> None:
    """Time passes, and the notifier looks."""
    await stage.pass_time(seconds)
    await stage.engine.ticked("notifier")


async def test_a_failure_and_the_recovery_after_it(stage: Stage, receiver: Receiver, subscribe: Subscribe) -> None:
    await subscribe("failed", "dead", "recovered", job=(await stage.job("flaky", "fail", [1], retry=QUICK)).id)
    await stage.job("steady")
    await stage.client.trigger_job("steady")
    run = await stage.client.trigger_job("flaky")
    told = {notice["type"]: notice for notice in await receiver.notices(2)}
    assert set(told) == {"run.failed", "job.recovered"}
    assert told["run.failed"]["run"] | {"finished_at": "", "due_at": "", "nominal_at": "", "started_at": ""} == {
        "id": run, "state": "retrying", "attempt": 1, "failures": 1, "late_s": None,
        "finished_at": "", "due_at": "", "nominal_at": "", "started_at": "",
    }  # fmt: skip
    assert told["job.recovered"]["run"]["attempt"] == 2
    assert told["job.recovered"]["error"] is None
    await stage.client.trigger_job("steady")
    await stage.idle()
    assert len(receiver.got) == 2
    assert await stage.engine.pool.fetchval("SELECT count(*) FROM noonmark.trouble") == 0


async def test_who_asked_for_failures_alone_hears_of_the_last_one_too(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    await subscribe("failed", quiet_s=0)
    await stage.job("bad", "refuse", retry=QUICK)
    await stage.client.trigger_job("bad")
    assert sorted((n["run"]["attempt"], n["type"]) for n in await receiver.notices(3)) == [
        (1, "run.failed"), (2, "run.failed"), (3, "run.failed"),
    ]  # fmt: skip


async def test_a_recovery_is_told_by_the_next_owner(stage: Stage, receiver: Receiver, subscribe: Subscribe) -> None:
    await subscribe("recovered")
    await stage.job("flaky", "fail", retry=QUICK)
    run = await stage.client.trigger_job("flaky")
    assert (await stage.ended(run))[-1] == "failed"
    await stage.engine.stop_worker(stage.worker)
    await stage.engine.stop_node()
    await stage.engine.start_node(private_webhooks=True)
    await stage.engine.start_worker(stage.seen.app)
    await stage.engine.client().trigger_job("flaky", input=[0])
    [told] = await receiver.notices(1)
    assert (told["type"], told["job"]["name"]) == ("job.recovered", "flaky")


async def test_at_most_one_notice_of_a_kind_and_job_in_the_quiet_time(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    await subscribe("dead", quiet_s=1.5)
    await stage.job("bad", "refuse", retry=QUICK)
    await stage.job("worse", "refuse", retry=QUICK)
    for _ in range(10):
        await stage.client.trigger_job("bad")
    await stage.client.trigger_job("worse")

    async def all_told() -> bool:
        told = await receiver.notices(1)
        return sum(1 + one["folded"] for one in told) == 11

    await stage.idle()
    await passes(stage, 1.5)
    await eventually(all_told)
    told = [one["job"]["name"] for one in await receiver.notices(1)]
    assert told.count("worse") == 1
    assert told.count("bad") < 10


async def test_a_run_that_waits_too_long_is_late(stage: Stage, receiver: Receiver, subscribe: Subscribe) -> None:
    await subscribe("late", late_after_s=0.3, quiet_s=0)
    await stage.job("stuck", queue="nobody")
    run = await stage.client.trigger_job("stuck")
    await passes(stage, 0.4)
    [told] = await receiver.notices(1)
    assert (told["type"], told["run"]["id"], told["run"]["state"]) == ("run.late", run, "waiting")
    assert told["run"]["late_s"] > 0.3
    await stage.engine.start_worker(stage.seen.app, queues=["nobody"])
    assert await stage.ended(run) == ["succeeded"]
    await stage.idle()
    assert len(receiver.got) == 1  # its late start is no news


async def test_a_job_that_should_have_run_is_silent_and_then_recovers(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    job = await stage.job("tick", queue="nobody", schedule=Every(every="1s"))
    await subscribe("silent", "recovered", job=job.id, grace_s=0.5)
    await passes(stage, 2.5)
    [told] = await receiver.notices(1)
    assert (told["type"], told["job"]["id"], told["run"]) == ("job.silent", job.id, None)
    assert told["silence"]["last_success_at"] is None
    assert told["silence"]["expected_at"] < told["at"]
    await stage.engine.start_worker(stage.seen.app, queues=["nobody"])
    assert (await receiver.notices(2))[1]["type"] == "job.recovered"


async def test_silence_of_a_job_that_is_expected_every_so_often(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    await stage.job("manual")
    await stage.job("other")
    await subscribe("silent", job="manual", expect_every_s=1, grace_s=0.2)
    await passes(stage, 1.5)
    [told] = await receiver.notices(1)
    assert (told["type"], told["job"]["name"]) == ("job.silent", "manual")


async def test_labels_choose_the_jobs(stage: Stage, receiver: Receiver, subscribe: Subscribe) -> None:
    await subscribe("dead", labels={"team": "money"})
    await stage.job("theirs", "refuse", retry=QUICK, labels={"team": "web"})
    await stage.job("ours", "refuse", retry=QUICK, labels={"team": "money", "tier": "1"})
    for name in ("theirs", "ours"):
        await stage.client.trigger_job(name)
    await stage.idle()
    told = await receiver.notices(1)
    assert [one["job"]["name"] for one in told] == ["ours"]


async def test_tenants_hear_nothing_of_each_other(stage: Stage, receiver: Receiver, subscribe: Subscribe) -> None:
    await stage.engine.pool.execute("INSERT INTO noonmark.tenant (name) VALUES ('other')")
    other = stage.engine.client("other")
    ours = await stage.job("bad", "refuse", retry=QUICK)
    with pytest.raises(InvalidInput) as refused:
        await subscribe("dead", client=other, job=ours.id)
    assert refused.value.field == "job"
    theirs = await subscribe("dead", client=other)
    mine = await subscribe("dead")
    await stage.client.trigger_job("bad")
    [told] = await receiver.notices(1)
    assert told["tenant"] == "default"
    await stage.idle()
    assert len(receiver.got) == 1
    assert (await other.deliveries(theirs.subscription.id)).items == []
    with pytest.raises(NotFound):
        await stage.client.get_subscription(theirs.subscription.id)
    with pytest.raises(NotFound):
        await other.test_subscription(mine.subscription.id)


async def test_a_subscription_that_is_off_or_gone_tells_nothing(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    off, gone = await subscribe("dead"), await subscribe("dead", name="gone")
    on = await subscribe("dead", name="on")
    await stage.client.update_subscription(off.subscription.id, SubscriptionPatch(active=False))
    await stage.client.unsubscribe(gone.subscription.id)
    await stage.job("bad", "refuse", retry=QUICK)
    await stage.client.trigger_job("bad")
    await receiver.notices(1)
    await stage.idle()
    assert len(receiver.got) == 1
    assert len((await stage.client.deliveries(on.subscription.id)).items) == 1
    with pytest.raises(NotFound):
        await stage.client.get_job(gone.subscription.delivery_job)


async def test_notices_go_out_without_any_worker(engine: Engine, receiver: Receiver) -> None:
    await engine.start_node(private_webhooks=True)
    client = engine.client()
    await client.subscribe(SubscriptionSpec(name="ops", events=["late"], to=Webhook(receiver.url), late_after_s=0.2))
    seen = Seen()
    await client.declare_tasks(sorted(seen.app.tasks))
    await Stage(engine, client, seen, None).job("stuck")  # type: ignore[arg-type]
    await client.trigger_job("stuck")
    assert (await receiver.notices(1))[0]["type"] == "run.late"
    await seen.app.close()


async def test_no_worker_from_outside_delivers(stage: Stage) -> None:
    message = {"name": "thief", "queues": ["noonmark"], "tasks": ["noonmark.deliver"], "concurrency": 1}
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{stage.engine.address}/v1/worker/register", json=message) as answer,
    ):
        problem = await answer.json(content_type=None)
    assert (answer.status, problem["field"]) == (422, "tasks")
