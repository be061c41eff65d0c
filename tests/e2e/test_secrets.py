"""Secrets in a server that runs as a process, logs everything, is killed and started again."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.areas.files import files_that_contain
from tests.nats_server import free_port
from tests.program import PROGRAM

pytestmark = pytest.mark.timeout(180)

PASSWORD = "pass-phrase-of-the-admin"
FAILURE = """
import sys
from penstock.server.log import set_up_logs
set_up_logs(sys.argv[1], "debug")
import structlog

def fail(password):
    raise RuntimeError("broken")

try:
    fail("the-" + "password")
except RuntimeError:
    structlog.get_logger().exception("failed")
"""


@asynccontextmanager
async def serving(folder: Path) -> AsyncIterator[tuple[httpx.AsyncClient, asyncio.subprocess.Process]]:
    """`penstock serve` with debug logs in `folder`/log, and a client for it."""
    port = free_port()
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("PENSTOCK_")},
        "PENSTOCK_DATA": str(folder / "data"),
        "PENSTOCK_PORT": str(port),
        "PENSTOCK_ADMIN_PASSWORD": PASSWORD,
        "PENSTOCK_LOG_LEVEL": "debug",
        "PENSTOCK_LOG_FORMAT": "json",
    }
    with (folder / "log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(*PROGRAM, "serve", env=environment, stdout=log, stderr=log)
    try:
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            await ready(client)
            yield client, process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def ready(client: httpx.AsyncClient) -> None:
    async with asyncio.timeout(90):
        while True:
            try:
                if (await client.get("/readyz")).status_code == 200:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(0.1)


async def log_in(client: httpx.AsyncClient, name: str, password: str) -> dict[str, str]:
    answer = await client.post("/identity/login/username", json={"UserName": name, "Password": password})
    tokens: dict[str, str] = answer.json()
    return tokens


async def refresh(client: httpx.AsyncClient, token: str) -> dict[str, str]:
    answer = await client.post("/identity/login/refresh", json={"RefreshToken": token})
    assert answer.status_code == 200, answer.text
    tokens: dict[str, str] = answer.json()
    return tokens


async def test_secrets_reach_neither_logs_nor_files_and_a_kill_loses_no_session(tmp_path: Path) -> None:
    secrets = [PASSWORD, "a-wrong-password", "value-of-the-secret", "value-that-is-refused"]
    async with serving(tmp_path) as (client, process):
        tokens = await log_in(client, "admin", PASSWORD)
        bearer = {"Authorization": f"Bearer {tokens['Token']}"}
        await log_in(client, "admin", "a-wrong-password")
        created = await client.post(
            "/identity/user", json={"Email": "someone@example.com", "Roles": "Reader"}, headers=bearer
        )
        key = (await client.post("/identity/apikey?username=admin&name=ci", headers=bearer)).json()
        for value, status in (("value-of-the-secret", 202), ("value-that-is-refused\0", 400)):
            document = {
                "apiVersion": "penstock/v1alpha1",
                "kind": "Variable",
                "metadata": {"name": "hidden"},
                "spec": {"value": value, "isSecret": True},
            }
            text = msgspec.json.encode(document).decode()
            applied = await client.put("/configuration", json=text, headers={"X-API-Key": key})
            assert applied.status_code == status, applied.text
        revealed = await client.get("/variables/hidden/reveal", headers={"X-API-Key": key})
        assert revealed.json() == "value-of-the-secret"
        second = await refresh(client, tokens["RefreshToken"])
        process.send_signal(signal.SIGKILL)
        await process.wait()
        secrets += [created.json()["Password"], key, *tokens.values(), *second.values()]

    async with serving(tmp_path) as (client, process):
        again = await refresh(client, tokens["RefreshToken"])
        assert again["RefreshToken"] == second["RefreshToken"]
        assert (await client.get("/variables", headers={"X-API-Key": key})).status_code == 200
        assert (await client.get("/variables", headers=bearer)).status_code == 200
        secrets += again.values()

    # Of a token also the part behind its subject, which may be known.
    for secret in [*secrets, *(secret[-40:] for secret in secrets if len(secret) > 60)]:
        assert files_that_contain(tmp_path, secret) == [], secret
    log = (tmp_path / "log").read_text()
    assert "/identity/login/username" in log
    assert "/variables/hidden/reveal" in log


@pytest.mark.parametrize("form", ["json", "console"])
async def test_a_logged_failure_does_not_show_the_values_at_hand(form: str) -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", FAILURE, form, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    out, _ = await process.communicate()
    assert b"RuntimeError: broken" in out
    assert b"the-password" not in out
