"""The keys of the requests that are being carried out: of one key, one request at a time."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager


class InFlight:
    def __init__(self) -> None:
        self._going: dict[tuple[int, str], asyncio.Event] = {}
        self._terms: dict[tuple[int, str], Mapping[int, int]] = {}

    @asynccontextmanager
    async def alone(self, tenant_id: int, key: str, terms: Callable[[], Mapping[int, int]]) -> AsyncIterator[None]:
        """Waits for its turn; `terms` then holds the shards' terms from before the key is looked up."""
        place = (tenant_id, key)
        while (going := self._going.get(place)) is not None:
            await going.wait()
        done = self._going[place] = asyncio.Event()
        try:
            self._terms[place] = terms()
            yield
        finally:
            del self._going[place]
            self._terms.pop(place, None)
            done.set()

    def terms(self, tenant_id: int, key: str) -> Mapping[int, int]:
        return self._terms.get((tenant_id, key), {})
