"""Checks the target and the events of a subscription."""

import asyncio

from yarl import URL

from noonmark.errors import InvalidInput
from noonmark.notify.addresses import PrivateAddress, check_host
from noonmark.notify.send import service_of, service_scheme
from noonmark.wire.notify import Apprise, Webhook


async def check_target(to: Webhook | Apprise, *, private: bool) -> None:
    if any(ord(letter) < 33 or ord(letter) == 127 for letter in to.url):
        raise InvalidInput("to.url", "it holds spaces or control characters", "write them as %20 and the like")
    if isinstance(to, Webhook):
        _check_webhook(to.url, private=private)
    elif await asyncio.to_thread(service_of, to.url) is None:
        raise InvalidInput(
            "to.url",
            f"apprise cannot send to a {service_scheme(to.url)[:20]!r} url like this",
            "see https://github.com/caronc/apprise/wiki for how each service is written",
        )


def _check_webhook(text: str, *, private: bool) -> None:
    try:
        url = URL(text)
        port = url.port
    except ValueError as error:
        raise InvalidInput("to.url", f"it is not a URL: {error}", "write it as https://host/path") from None
    if url.scheme not in ("http", "https") or not url.host or port == 0:
        raise InvalidInput("to.url", "it is not the URL of a web server", "write it as https://host/path")
    if url.user is not None or url.password is not None:
        raise InvalidInput(
            "to.url", "it holds a user or password, and URLs of webhooks are shown", "verify the signature instead"
        )
    if not private:
        try:
            check_host(url.host)
        except PrivateAddress as error:
            raise InvalidInput(
                "to.url", str(error), "use a public address, or start the nodes with --private-webhooks"
            ) from None
