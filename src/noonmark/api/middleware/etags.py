"""ETags of jobs: the version, which If-Match compares, and a mark of all that is shown, for If-None-Match.

The version alone would not do for a cache: a job that is paused, or whose next fire has moved on, has the same version.
"""

import zlib

import msgspec

from noonmark.errors import InvalidInput
from noonmark.wire.resources import Job

_encode = msgspec.json.Encoder().encode


def etag(job: Job) -> str:
    return f'"{job.version}-{zlib.crc32(_encode(job)):08x}"'


def expected_version(if_match: str | None) -> int | None:
    """None: any."""
    if if_match is None or if_match.strip() == "*":
        return None
    text = if_match.strip().removeprefix("W/").strip('"').partition("-")[0]
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise InvalidInput("If-Match", f"{if_match!r} is no version of a job", 'send its ETag, or its version: "3"')
    return int(text)
