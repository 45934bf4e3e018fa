"""Commands between nodes count only with the signature of somebody who can read the secret in the database."""

import msgspec
import pytest

from noonmark.model.caller import SYSTEM
from noonmark.model.ids import JobId
from noonmark.node.transport import read_command, sign
from noonmark.wire.commands import PauseJobs

COMMAND = PauseJobs(tenant_id=1, caller=SYSTEM, deadline_us=1, job_ids=[JobId(4096)])
BODY = msgspec.json.encode(COMMAND)


def test_what_a_node_signed_is_read() -> None:
    assert read_command("secret", BODY, sign("secret", BODY)) == COMMAND


@pytest.mark.parametrize(
    "signature", ["", "0" * 64, sign("other", BODY), sign("secret", BODY + b" "), "\N{LATIN SMALL LETTER SHARP S}"]
)
def test_anything_else_is_not(signature: str) -> None:
    assert read_command("secret", BODY, signature) is None


def test_without_a_secret_nobody_is_believed() -> None:
    """A node that starts has not read it yet."""
    assert read_command("", BODY, sign("", BODY)) is None
