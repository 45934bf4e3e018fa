"""The kinds of answers of a route: a value, a value with a status and headers, or a stream."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec

from noonmark.api.asgi import JSON, MSGPACK, Headers

Content = TypeVar("Content")

_encode_json = msgspec.json.Encoder().encode
_encode_msgpack = msgspec.msgpack.Encoder().encode
_NO_HEADERS: Mapping[str, str] = {}


class Response(Generic[Content]):
    """`content` is encoded as JSON, bytes are sent as they are; without a status it is the endpoint's own."""

    __slots__ = ("content", "headers", "media_type", "status_code")

    def __init__(
        self,
        content: Content,
        *,
        status_code: int | None = None,
        headers: Mapping[str, str] = _NO_HEADERS,
        media_type: str = "application/json",
    ) -> None:
        self.content = content
        self.status_code = status_code
        self.headers = headers
        self.media_type = media_type


class Stream:
    """Sent as it comes, until it ends or the caller hangs up."""

    __slots__ = ("chunks", "headers", "media_type")

    def __init__(
        self, chunks: AsyncGenerator[bytes], *, media_type: str, headers: Mapping[str, str] = _NO_HEADERS
    ) -> None:
        self.chunks = chunks
        self.headers = headers
        self.media_type = media_type

    def head(self) -> Headers:
        return [(b"content-type", self.media_type.encode()), *_encoded(self.headers)]


class Answer(NamedTuple):
    """Ready to be sent."""

    status: int
    headers: Headers
    body: bytes


def encode(result: Any, status: int, *, packed: bool = False) -> Answer:
    if not isinstance(result, Response):
        if result is None:
            return Answer(status, [], b"")
        body = _encode_msgpack(result) if packed else _encode_json(result)
        return Answer(status, _content(MSGPACK if packed else JSON, body), body)
    status = result.status_code or status
    headers = _encoded(result.headers) if result.headers else []
    content = result.content
    if content is None:
        return Answer(status, headers, b"")
    body = content if isinstance(content, bytes) else _encode_json(content)
    return Answer(status, _content(result.media_type.encode(), body) + headers, body)


def unless_known(answer: Answer, known: bytes) -> Answer:
    """304 without a body, if the caller has the answer already (RFC 9110: weak comparison, `*` is anything)."""
    tag = next((value for name, value in answer.headers if name == b"etag"), None)
    listed = [part.strip().removeprefix(b"W/") for part in known.split(b",")]
    if answer.status != 200 or tag is None or not (b"*" in listed or tag.removeprefix(b"W/") in listed):
        return answer
    return Answer(304, [(b"etag", tag)], b"")


def with_body(answer: Answer, body: bytes) -> Answer:
    kept = [(name, value) for name, value in answer.headers if name != b"content-length"]
    return Answer(answer.status, [*kept, (b"content-length", str(len(body)).encode())], body)


def _content(kind: bytes, body: bytes) -> Headers:
    return [(b"content-type", kind), (b"content-length", str(len(body)).encode())]


def _encoded(headers: Mapping[str, str]) -> Headers:
    return [(name.lower().encode(), value.encode("latin-1")) for name, value in headers.items()]
