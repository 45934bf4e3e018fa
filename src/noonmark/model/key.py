"""The text of an API key: `nmk_<prefix>_<secret>`.

The prefix is shown in lists and finds the key; the secret is shown once. 43 characters of base 62 are 256 random bits,
so one SHA-256 of the whole text is stored: a slow hash is for secrets that can be guessed.
"""

import hashlib
import re
import secrets
import string

_SHAPE = re.compile(r"nmk_([0-9a-z]{8})_([0-9A-Za-z]{43})")
_PREFIX_DIGITS = string.digits + string.ascii_lowercase
_SECRET_DIGITS = string.digits + string.ascii_letters


def new_prefix() -> str:
    return "".join(secrets.choice(_PREFIX_DIGITS) for _ in range(8))


def new_key(prefix: str) -> str:
    return f"nmk_{prefix}_{''.join(secrets.choice(_SECRET_DIGITS) for _ in range(43))}"


def prefix_of(text: str) -> str | None:
    """None for a text that cannot be a key."""
    found = _SHAPE.fullmatch(text)
    return found[1] if found else None


def digest_of(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
