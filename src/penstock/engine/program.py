"""The engine as a process: `penstock engine work`, or started by the server that it belongs to."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import structlog

from penstock.bus.bus import Bus
from penstock.bus.credentials import UserCredential
from penstock.engine.embedding import READY, Embedding
from penstock.engine.engine import Engine, open_engine
from penstock.engine.isolation import find_isolation
from penstock.engine.message import SUBJECT
from penstock.engine.settings import PREFIX, EngineSettings, engine_settings
from penstock.engine.worker import Worker
from penstock.kernel.errors import Invalid, naming_files
from penstock.kernel.exit_code import exit_code
from penstock.kernel.log import set_up_log

_log = structlog.get_logger(__name__)
_LOOK_SECONDS = 5.0
_END_SECONDS = 10.0


async def work(settings: EngineSettings) -> None:
    """Serves a bus elsewhere until told to stop. Raises Invalid, Unavailable, UnusableFile."""
    if not settings.nats_url:
        raise Invalid.one("PENSTOCK_ENGINE_NATS_URL", "must be set")
    if not settings.credentials:
        raise Invalid.one("PENSTOCK_ENGINE_CREDENTIALS", "must be set")
    with naming_files():
        text = Path(settings.credentials).read_text()  # noqa: ASYNC240 - before anything runs
    credential = UserCredential.of_file_text(text)
    async with _serving(settings, settings.nats_url, credential):
        _log.info("engine works", servers=settings.nats_url)
        await _told_to_stop()


async def embedded(settings: EngineSettings) -> None:
    """Serves the bus that standard input names, until that closes or nobody has needed it for a while."""
    reader = await _standard_input()
    told = msgspec.json.decode(await reader.readline(), type=Embedding)
    async with _serving(settings, told.servers, UserCredential(told.jwt, told.seed)) as engine:
        os.write(sys.stdout.fileno(), READY)
        ends = [
            asyncio.create_task(reader.read(), name="end of the server"),
            asyncio.create_task(_told_to_stop(), name="signal to stop"),
            asyncio.create_task(_unused(engine, settings.idle_minutes * 60), name="idleness"),
        ]
        await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        # The bus may have died with the server; its watchdog ends what the engine leaves.
        asyncio.get_running_loop().call_later(_END_SECONDS, os._exit, 1)
        for end in ends:
            end.cancel()


@asynccontextmanager
async def _serving(
    settings: EngineSettings, servers: Sequence[str], credential: UserCredential
) -> AsyncIterator[Engine]:
    isolation = find_isolation(settings)
    # Its inbox is below its own subject: it may listen nowhere else.
    prefix = f"{SUBJECT}.inbox"
    async with open_engine(isolation) as engine:
        bus = await Bus.connect(list(servers), credential, name="penstock-engine", inbox_prefix=prefix)
        async with bus, Worker(bus, engine).serving():
            yield engine


async def _standard_input() -> asyncio.StreamReader:
    reader = asyncio.StreamReader()
    await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    return reader


async def _told_to_stop() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


async def _unused(engine: Engine, seconds: float) -> None:
    """Returns when nothing ran, and no notebook was kept, for so long."""
    now = asyncio.get_running_loop().time
    used, served = now(), engine.served
    while now() - used < seconds:
        await asyncio.sleep(min(_LOOK_SECONDS, seconds))
        if engine.busy or engine.served != served:
            used, served = now(), engine.served


def main(environment: Mapping[str, str] = os.environ, arguments: Sequence[str] = ()) -> int:
    """Exit code: 0 stopped, 2 bad settings, 1 anything else. With the argument `embedded`, see `embedded`."""

    def run() -> None:
        settings = engine_settings({name: value for name, value in environment.items() if name.startswith(PREFIX)})
        set_up_log(settings.log_format, settings.log_level)
        asyncio.run(embedded(settings) if "embedded" in arguments else work(settings))

    return exit_code("The engine", run)


if __name__ == "__main__":
    sys.exit(main(arguments=sys.argv[1:]))
