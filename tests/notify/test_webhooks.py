"""Signed webhooks: sent, verified, retried, given up, rotated."""

import pytest
from standardwebhooks import Webhook as Verifier
from standardwebhooks import WebhookVerificationError

from noonmark.errors import InvalidInput
from noonmark.wire.notify import SubscriptionPatch, SubscriptionSpec, Webhook
from tests.conftest import Engine, eventually
from tests.node.conftest import Stage
from tests.notify.conftest import QUICK, Receiver, Subscribe


async def test_a_dead_letter_is_told_with_a_signature_that_the_library_verifies(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    made = await subscribe("dead")
    job = await stage.job("bill", "refuse", retry=QUICK, labels={"team": "money"})
    run = await stage.client.trigger_job("bill")
    [told] = await receiver.notices(1)
    headers, body = receiver.got[0]
    assert made.secret is not None
    assert Verifier(made.secret).verify(body, headers) == told
    assert headers["webhook-id"] == told["id"]
    assert (told["type"], told["tenant"], told["reason"]) == ("run.dead", "default", "attempts_exhausted")
    assert told["job"] == {"id": job.id, "name": "bill", "labels": {"team": "money"}}
    assert (told["run"]["id"], told["run"]["attempt"], told["run"]["state"]) == (run, 3, "dead")
    assert "never again" in told["error"]
    with pytest.raises(WebhookVerificationError):
        Verifier(made.secret).verify(body.replace(b"bill", b"kill"), headers)


async def test_a_receiver_that_was_down_gets_the_notice_once(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    made = await subscribe("dead")
    await receiver.stop()
    sent = await stage.client.test_subscription(made.subscription.id)
    await eventually(lambda: _attempts(stage, made.subscription.id, 1))
    dead = await eventually(lambda: _state(stage, made.subscription.id, "dead"))
    assert dead.attempts == 3
    assert "cannot reach" in (dead.error or "")
    await receiver.start()
    assert await stage.client.redrive([sent.run]) == 1
    delivered = await eventually(lambda: _state(stage, made.subscription.id, "delivered"))
    assert (delivered.event, delivered.type, delivered.run) == (sent.event, "subscription.test", sent.run)
    assert [headers["webhook-id"] for headers, _ in receiver.got] == [sent.event]


async def test_a_notice_that_is_refused_is_tried_again_under_the_same_id_and_then_dead(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    made = await subscribe("dead")
    receiver.status = 500
    await stage.client.test_subscription(made.subscription.id)
    dead = await eventually(lambda: _state(stage, made.subscription.id, "dead"))
    assert "500" in (dead.error or "")
    assert len(receiver.got) == 3
    assert len({headers["webhook-id"] for headers, _ in receiver.got}) == 1


@pytest.mark.parametrize(("status", "attempts", "said"), [(302, 3, "redirects"), (410, 1, "Gone")])
async def test_redirects_are_not_followed_and_gone_is_final(
    stage: Stage, receiver: Receiver, subscribe: Subscribe, status: int, attempts: int, said: str
) -> None:
    made = await subscribe("dead")
    receiver.status = status
    await stage.client.test_subscription(made.subscription.id)
    dead = await eventually(lambda: _state(stage, made.subscription.id, "dead"))
    assert said in (dead.error or "")
    assert len(receiver.got) == attempts


async def test_both_secrets_sign_while_a_rotation_has_grace(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    made = await subscribe("dead")
    rotated = await stage.client.rotate_subscription_secret(made.subscription.id, grace_s=600)
    await stage.client.test_subscription(made.subscription.id)
    await receiver.notices(1)
    assert made.secret != rotated.secret
    for secret in (made.secret, rotated.secret):
        assert Verifier(secret or "").verify(receiver.got[0][1], receiver.got[0][0])
    last = await stage.client.rotate_subscription_secret(made.subscription.id, grace_s=0)
    await stage.client.test_subscription(made.subscription.id)
    await receiver.notices(2)
    assert Verifier(last.secret or "").verify(receiver.got[1][1], receiver.got[1][0])
    with pytest.raises(WebhookVerificationError):
        Verifier(rotated.secret or "").verify(receiver.got[1][1], receiver.got[1][0])


async def test_a_node_sends_to_public_addresses_alone_unless_told(engine: Engine, receiver: Receiver) -> None:
    await engine.start_node()
    client = engine.client()
    for host in ("127.0.0.1", "localhost", "10.1.2.3", "[::ffff:192.168.0.1]", "169.254.169.254", "0x7f000001"):
        with pytest.raises(InvalidInput) as refused:
            await client.subscribe(_spec(f"http://{host}:{receiver.port}/hook"))
        assert refused.value.field == "to.url"
    assert (await client.subscriptions()).items == []
    # what was stored before is found out when it is used
    made = await client.subscribe(_spec("https://example.com/hook"))
    url = f"http://127.0.0.1:{receiver.port}/hook"
    await engine.pool.execute("UPDATE noonmark.subscription SET url = $1", url)
    await client.test_subscription(made.subscription.id)

    async def dead() -> str | None:
        page = await client.deliveries(made.subscription.id)
        return next((one.error for one in page.items if one.state == "dead"), None)

    assert "public internet" in (await eventually(dead) or "")
    assert receiver.got == []


async def test_what_is_wrong_is_named_and_changes_nothing(stage: Stage, subscribe: Subscribe) -> None:
    await stage.job("manual")
    for changes, field in [
        ({"to": Webhook("ftp://example.com")}, "to.url"),
        ({"to": Webhook("https://user:pass@example.com")}, "to.url"),
        ({"job": "nobody"}, "job"),
        ({"job": "manual", "events": ["silent"]}, "expect_every_s"),
        ({"job": "manual", "labels": {"a": "b"}}, "labels"),
        ({"name": "no name"}, "name"),
    ]:
        with pytest.raises(InvalidInput) as refused:
            await stage.client.subscribe(_spec("https://example.com", **changes))
        assert refused.value.field == field
    assert (await stage.client.subscriptions()).items == []
    made = await subscribe("dead")
    with pytest.raises(InvalidInput):
        await stage.client.update_subscription(made.subscription.id, SubscriptionPatch(job="nobody"))
    assert (await stage.client.get_subscription(made.subscription.id)).job is None


def _spec(url: str, **changes: object) -> SubscriptionSpec:
    return SubscriptionSpec(**{"name": "ops", "events": ["dead"], "to": Webhook(url), **changes})  # type: ignore[arg-type]


async def _state(stage: Stage, subscription: str, state: str):
    page = await stage.client.deliveries(subscription)
    return next((one for one in page.items if one.state == state), None)


async def _attempts(stage: Stage, subscription: str, least: int) -> bool:
    page = await stage.client.deliveries(subscription)
    return any(one.attempts >= least for one in page.items)


async def test_any_node_makes_a_subscription_and_the_owner_of_its_job_delivers(
    engine: Engine, receiver: Receiver
) -> None:
    for _ in range(2):
        await engine.start_node(private_webhooks=True)
    await eventually(lambda: engine.pool.fetchval("SELECT count(DISTINCT owner) = 2 FROM noonmark.shard"), 20)
    client = engine.client()
    names = [f"s{number}" for number in range(6)]
    sent = []
    for name in names:
        made = await client.subscribe(_spec(receiver.url, name=name))
        sent.append((await client.test_subscription(made.subscription.id)).event)
    owners = await engine.pool.fetch(
        "SELECT DISTINCT h.owner FROM noonmark.subscription s JOIN noonmark.shard h ON h.shard = s.delivery_job & 4095"
    )
    assert len(owners) == 2
    assert {told["id"] for told in await receiver.notices(6)} == set(sent)
    await client.unsubscribe((await client.subscriptions()).items[0].id)
    assert [one.name for one in (await client.subscriptions()).items] == names[1:]


async def test_a_delivery_job_that_was_deleted_is_made_anew(
    stage: Stage, receiver: Receiver, subscribe: Subscribe
) -> None:
    made = (await subscribe("dead")).subscription
    await stage.client.delete_job(made.delivery_job)
    sent = await stage.client.test_subscription(made.id)
    assert (await receiver.notices(1))[0]["id"] == sent.event
    assert (await stage.client.get_subscription(made.id)).delivery_job != made.delivery_job
