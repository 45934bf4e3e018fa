"""Everything else goes through apprise; and what is secret in a subscription never comes back."""

import json

import pytest

from noonmark.errors import InvalidInput
from noonmark.wire.notify import Apprise, SubscriptionPatch
from tests.conftest import eventually
from tests.node.conftest import Stage
from tests.notify.conftest import QUICK, Receiver, Subscribe


async def test_words_for_people_through_apprise(stage: Stage, receiver: Receiver, subscribe: Subscribe) -> None:
    made = await subscribe("dead", to=Apprise(f"json://me:s3cret@127.0.0.1:{receiver.port}/inbox"))
    assert made.secret is None
    await stage.job("bill", "refuse", retry=QUICK)
    run = await stage.client.trigger_job("bill")
    await receiver.notices(1)
    headers, body = receiver.got[0]
    said = json.loads(body)
    assert headers["Authorization"].startswith("Basic ")
    assert said["title"] == "Noonmark: bill is dead: it used up its attempts"
    assert said["type"] == "failure"
    for part in ("the last allowed attempt failed", "bill (job_", run, "never again"):
        assert part in said["message"]


async def test_a_service_that_does_not_answer_is_tried_again(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    made = await subscribe("dead", to=Apprise(f"json://127.0.0.1:{receiver.port}/inbox"))
    receiver.status = 503
    await stage.client.test_subscription(made.subscription.id)

    async def dead() -> str | None:
        items = (await stage.client.deliveries(made.subscription.id)).items
        return next((one.error for one in items if one.state == "dead"), None)

    assert "did not take it" in (await eventually(dead) or "")
    assert len(receiver.got) == 3


async def test_secrets_are_written_and_never_read(stage: Stage, receiver: Receiver, subscribe: Subscribe) -> None:
    url = f"json://me:s3cret@127.0.0.1:{receiver.port}/inbox"
    made = await subscribe("dead", to=Apprise(url))
    hook = await subscribe("dead", name="hook")
    assert made.subscription.to == Apprise("json://***")
    shown = (await stage.client.subscriptions()).items
    assert [one.to.url for one in shown] == ["json://***", receiver.url]
    # what was shown may be sent back, and means the same
    await stage.client.update_subscription(made.subscription.id, SubscriptionPatch(to=shown[0].to, quiet_s=5))
    assert await stage.engine.pool.fetchval("SELECT url FROM noonmark.subscription WHERE name = 'ops'") == url
    audit = [
        (row[0], str(row[1:]))
        for row in await stage.engine.pool.fetch(
            "SELECT action, before, after FROM noonmark.audit WHERE action LIKE 'subscription.%' ORDER BY audit_id"
        )
    ]
    assert [action for action, _ in audit] == ["subscription.create"] * 2 + ["subscription.change"]
    assert not any("s3cret" in text or (hook.secret or "") in text for _, text in audit)


async def test_a_url_that_apprise_does_not_know_is_refused(stage: Stage) -> None:
    from noonmark.wire.notify import SubscriptionSpec

    for url in ("nonsense://x", "slack://too-short"):
        with pytest.raises(InvalidInput) as refused:
            await stage.client.subscribe(SubscriptionSpec(name="ops", events=["dead"], to=Apprise(url)))
        assert refused.value.field == "to.url"
