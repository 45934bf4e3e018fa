"""`noonmark notify`: who is told when jobs fail, die, recover, run late or fall silent."""

from typing import Annotated

import msgspec
import typer

from noonmark.cli.job_options import LabelOption, read_labels
from noonmark.cli.session import Api, changes, gather, watches
from noonmark.errors import InvalidInput, NotFound
from noonmark.model.notice import TYPES, Event
from noonmark.wire.notify import Apprise, Subscription, SubscriptionPatch, SubscriptionSpec, Webhook

subscriptions = typer.Typer(no_args_is_help=True, help="Be told when jobs fail, die, recover, run late or fall silent.")
Which = Annotated[str, typer.Argument(metavar="SUBSCRIPTION", help="Its name or id.")]
Limit = Annotated[int, typer.Option(min=1, help="How many at most.")]


@subscriptions.command("create")
@changes
async def create(
    api: Api,
    name: Annotated[str, typer.Argument(help="Unique in the tenant.")],
    to: Annotated[
        str, typer.Option("--to", metavar="URL", help="https://… for a signed webhook, else a URL of apprise.")
    ],
    on: Annotated[
        list[str] | None,
        typer.Option("--on", metavar="EVENT", help="failed, dead, recovered, late or silent; may be repeated."),
    ] = None,
    job: Annotated[str | None, typer.Option(metavar="REF", help="Only this job (name or id).")] = None,
    label: LabelOption = None,
    late_after_s: Annotated[float, typer.Option("--late-after-s", min=0, help="When a run counts as late.")] = 60.0,
    expect_every_s: Annotated[
        float | None, typer.Option("--expect-every-s", min=1, help="How often a success is expected.")
    ] = None,
    grace_s: Annotated[float, typer.Option("--grace-s", min=0, help="How late an expected success may be.")] = 300.0,
    quiet_s: Annotated[
        float, typer.Option("--quiet-s", min=0, help="One notice of a kind and job at most in this time.")
    ] = 60.0,
) -> None:
    """Subscribe to what happens to jobs. By default to dead letters and recoveries of all jobs."""
    spec = SubscriptionSpec(
        name=name,
        events=_events(on or ["dead", "recovered"]),
        to=Webhook(to) if to.startswith(("https://", "http://")) else Apprise(to),
        job=job,
        labels=read_labels(label),
        late_after_s=late_after_s,
        expect_every_s=expect_every_s,
        grace_s=grace_s,
        quiet_s=quiet_s,
    )
    if api.held_back(f"subscribe {name!r} to {', '.join(spec.events)}"):
        return
    made = await api.client.subscribe(spec)

    def in_words() -> str:
        sentence = f"Subscribed: {made.subscription.id}. Try it with: noonmark notify test {name}"
        return sentence if made.secret is None else f"{sentence}\nIts secret, shown only now: {made.secret}"

    api.show(made, in_words)


@subscriptions.command("list")
@watches
async def list_subscriptions(api: Api, limit: Limit = 100) -> None:
    """List subscriptions."""
    page = await gather(lambda size, cursor: api.client.subscriptions(limit=size, cursor=cursor), limit)
    api.show_list(
        page,
        page.items,
        {
            "id": lambda one: one.id,
            "name": lambda one: one.name,
            "events": lambda one: ", ".join(one.events),
            "of": lambda one: one.job or _labels(one) or "all jobs",
            "to": lambda one: one.to.url,
            "active": lambda one: "yes" if one.active else "no",
        },
        {
            "late after": lambda one: f"{one.late_after_s:g} s",
            "every": lambda one: "" if one.expect_every_s is None else f"{one.expect_every_s:g} s",
            "grace": lambda one: f"{one.grace_s:g} s",
            "quiet": lambda one: f"{one.quiet_s:g} s",
            "job": lambda one: one.delivery_job,
        },
        empty="No subscriptions.",
    )


@subscriptions.command("history")
@watches
async def history(api: Api, subscription: Which, limit: Limit = 20) -> None:
    """Show what became of a subscription's notices, newest first."""
    found = await _find(api, subscription)
    page = await gather(lambda size, cursor: api.client.deliveries(found.id, limit=size, cursor=cursor), limit)
    api.show_list(
        page,
        page.items,
        {
            "at": lambda one: one.at,
            "type": lambda one: one.type,
            "state": lambda one: one.state,
            "attempts": lambda one: one.attempts,
            "next": lambda one: one.next_attempt_at,
            "error": lambda one: (one.error or "").partition("\n")[0],
        },
        {"run": lambda one: one.run, "event": lambda one: one.event},
        empty="Nothing was sent yet.",
    )


@subscriptions.command("test")
@changes
async def send_test(api: Api, subscription: Which) -> None:
    """Send a test notice."""
    found = await _find(api, subscription)
    if api.held_back(f"send a test to {found.to.url}"):
        return
    sent = await api.client.test_subscription(found.id)
    api.show(sent, lambda: f"On its way: {sent.run}. See: noonmark notify history {found.name}")


@subscriptions.command("on")
@changes
async def switch_on(api: Api, subscription: Which) -> None:
    """Switch a subscription on again."""
    await _switch(api, subscription, active=True)


@subscriptions.command("off")
@changes
async def switch_off(api: Api, subscription: Which) -> None:
    """Switch a subscription off; what happens meanwhile is not told."""
    await _switch(api, subscription, active=False)


@subscriptions.command("rotate-secret")
@changes
async def rotate_secret(
    api: Api,
    subscription: Which,
    grace_s: Annotated[float, typer.Option("--grace-s", min=0, help="How long the old one signs as well.")] = 86_400.0,
) -> None:
    """Give a webhook a new secret."""
    found = await _find(api, subscription)
    if api.held_back(f"give {found.name} a new secret"):
        return
    made = await api.client.rotate_subscription_secret(found.id, grace_s)
    api.show(made, lambda: f"The new secret, shown only now: {made.secret}")


@subscriptions.command("delete")
@changes
async def delete(api: Api, subscription: Which) -> None:
    """End a subscription."""
    found = await _find(api, subscription)
    if api.held_back(f"end the subscription {found.name}"):
        return
    await api.client.unsubscribe(found.id)
    api.show({"deleted": found.id}, lambda: f"Ended: {found.name}.")


async def _switch(api: Api, subscription: str, *, active: bool) -> None:
    found = await _find(api, subscription)
    if api.held_back(f"switch {found.name} {'on' if active else 'off'}"):
        return
    changed = await api.client.update_subscription(found.id, SubscriptionPatch(active=active))
    api.show(changed, lambda: f"{found.name} is {'on' if active else 'off'}.")


async def _find(api: Api, text: str) -> Subscription:
    page = await gather(lambda size, cursor: api.client.subscriptions(limit=size, cursor=cursor), 10_000)
    for one in page.items:
        if text in (one.name, one.id):
            return one
    raise NotFound(f"there is no subscription {text!r}", field="SUBSCRIPTION", fix="see: noonmark notify list")


def _events(names: list[str]) -> list[Event]:
    try:
        return msgspec.convert(names, list[Event])
    except msgspec.ValidationError:
        unknown = next(name for name in names if name not in TYPES)
        raise InvalidInput("--on", f"{unknown!r} is no event", f"use {', '.join(TYPES)}") from None


def _labels(one: Subscription) -> str:
    return ", ".join(f"{key}={value}" for key, value in one.labels.items())
