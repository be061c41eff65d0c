"""A fixture with a real RabbitMQ that speaks AMQP 1.0, where its Debian package is installed. Taken in by

pytest_plugins = ("tests.rabbitmq",)
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from tests.nats_server import free_port

_SERVER = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
_START_SECONDS = 60


@pytest_asyncio.fixture(scope="session")
async def rabbitmq(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The broker's connection string."""
    if not _SERVER.exists():
        pytest.skip("needs RabbitMQ with its AMQP 1.0 plugin: apt-get install rabbitmq-server")
    folder = tmp_path_factory.mktemp("rabbitmq")
    port, environment = free_port(), _environment(folder)
    (folder / "rabbitmq.conf").write_text(
        f"listeners.tcp.1 = 127.0.0.1:{port}\nlog.console = true\nlog.console.level = warning\n"
    )
    (folder / "plugins").write_text("[rabbitmq_amqp1_0].")
    with (folder / "output").open("wb") as output:
        process = await asyncio.create_subprocess_exec(
            _SERVER, env=environment, stdout=output, stderr=output, start_new_session=True
        )
    try:
        await _listening(port, process, folder / "output")
        yield f"amqp://guest:guest@127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        await process.wait()
        await _end_port_mapper(environment)


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "RABBITMQ_NODENAME": f"test{os.getpid()}@localhost",
        "RABBITMQ_CONFIG_FILE": str(folder / "rabbitmq.conf"),
        "RABBITMQ_ENABLED_PLUGINS_FILE": str(folder / "plugins"),
        "RABBITMQ_MNESIA_BASE": str(folder / "data"),
        "RABBITMQ_LOG_BASE": str(folder / "logs"),
        "RABBITMQ_SCHEMA_DIR": str(folder / "schema"),
        "RABBITMQ_GENERATED_CONFIG_DIR": str(folder / "generated"),
        "RABBITMQ_DIST_PORT": str(free_port()),
        "ERL_EPMD_PORT": str(free_port()),
    }


async def _end_port_mapper(environment: dict[str, str]) -> None:
    """Erlang's daemon on our own port; it stays while it believes that the broker lives."""
    async with asyncio.timeout(_START_SECONDS):
        while b"Killed" not in subprocess.run(["epmd", "-kill"], env=environment, capture_output=True).stdout:
            await asyncio.sleep(0.1)


async def _listening(port: int, process: asyncio.subprocess.Process, output: Path) -> None:
    async with asyncio.timeout(_START_SECONDS):
        while process.returncode is None:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
            else:
                writer.close()
                return
    raise RuntimeError(f"RabbitMQ does not start: {output.read_text()}")
