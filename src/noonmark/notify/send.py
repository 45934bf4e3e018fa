"""Sends one notice to one target: a webhook signed by the Standard Webhooks scheme, or any service apprise knows."""

import asyncio
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import aiohttp
import msgspec
from standardwebhooks import Webhook
from yarl import URL

from noonmark.notify.addresses import PrivateAddress, check_host, check_resolved, connector_settings
from noonmark.notify.message import words
from noonmark.version import __version__

if TYPE_CHECKING:
    import apprise

MAX_BODY_BYTES = 64 * 1024
TIMEOUT_S = 15.0
_MAX_ANSWER = 500
_GONE = 410
_LOCAL_SCHEMES = frozenset({"dbus", "glib", "gnome", "kde", "macosx", "qt", "syslog", "windows"})
"""These show a message on the node's own machine."""


class Undelivered(Exception):
    """The target did not take it; it is tried again."""


class Refused(Exception):
    """Trying again would change nothing."""


class Sender:
    """Use it as a context; `private` lets it send to addresses that are not on the public internet."""

    def __init__(self, *, private: bool) -> None:
        self._private = private
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(**connector_settings(private=self._private)),
            timeout=aiohttp.ClientTimeout(total=TIMEOUT_S),
            cookie_jar=aiohttp.DummyCookieJar(),
        )
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._session is not None:
            await self._session.close()

    async def webhook(self, url: str, secrets: list[str], event_id: str, body: str, now: datetime) -> int:
        """The status that the receiver answered with, which is a 2xx; everything else raises."""
        assert self._session is not None
        if len(body.encode()) > MAX_BODY_BYTES:
            raise Refused(f"the notice is above the bound of {MAX_BODY_BYTES} bytes")
        headers = {
            "Content-Type": "application/json",
            "User-Agent": f"noonmark/{__version__}",
            "webhook-id": event_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(Webhook(secret).sign(event_id, now, body) for secret in secrets),
        }
        try:
            if not self._private:
                check_host(URL(url).host or "")
            async with self._session.post(url, data=body.encode(), headers=headers, allow_redirects=False) as answer:
                start = (await answer.content.read(_MAX_ANSWER)).decode(errors="replace")
        except PrivateAddress as error:
            raise Refused(str(error)) from None
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, PrivateAddress):
                raise Refused(str(error.os_error)) from None
            raise Undelivered(f"cannot reach {error.host}:{error.port}: {error.os_error}") from None
        except (aiohttp.ClientError, OSError) as error:
            raise Undelivered(f"{type(error).__name__}: {error}") from None
        except TimeoutError:
            raise Undelivered(f"no answer within {TIMEOUT_S:g} s") from None
        if 200 <= answer.status < 300:
            return answer.status
        if answer.status == _GONE:
            raise Refused("the receiver answered 410 Gone: it wants no more of these")
        if 300 <= answer.status < 400:
            raise Undelivered(f"the receiver answered {answer.status}; redirects are not followed: change the url")
        raise Undelivered(f"the receiver answered {answer.status}: {start}")

    async def apprise(self, url: str, body: str) -> None:
        """Through apprise; it says only whether it worked, and why not to its log."""
        service = await asyncio.to_thread(service_of, url)
        if service is None:
            raise Refused("apprise does not know this url")
        if not self._private:
            try:
                if service_scheme(url) in _LOCAL_SCHEMES:
                    raise PrivateAddress(f"{service_scheme(url)}:// speaks to this machine")
                for host in {service.host, getattr(service, "smtp_host", None)} - {None, ""}:
                    await check_resolved(str(host))
            except PrivateAddress as error:
                raise Refused(str(error)) from None
        said = words(msgspec.json.decode(body, type=dict[str, Any]))
        kind = await asyncio.to_thread(_kind, said.good)
        if not await service.async_notify(title=said.title, body=said.text, notify_type=kind):
            raise Undelivered(f"{service_scheme(url)}:// did not take it")


def service_scheme(url: str) -> str:
    return url.partition(":")[0].strip().lower()


def service_of(url: str) -> "apprise.NotifyBase | None":
    """What apprise makes of the url. Importing it takes a while, so not at the start and not on the event loop."""
    import apprise

    service = apprise.Apprise.instantiate(url)
    if isinstance(service, apprise.NotifyBase):
        service.redirects = False
        return service
    return None


def _kind(good: bool) -> Any:
    import apprise

    return apprise.NotifyType.SUCCESS if good else apprise.NotifyType.FAILURE
