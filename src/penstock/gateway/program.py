"""The gateway as a process: `penstock gateway`, or started by `penstock up`."""

import asyncio
import fcntl
import os
import signal
import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import structlog
import uvloop

from penstock.gateway.access import AccessSource, CredentialsFile, LinkFile
from penstock.gateway.access_log import AccessLog
from penstock.gateway.call_stream import CallStream
from penstock.gateway.envoy.gateway import Gateway
from penstock.gateway.link import Link
from penstock.gateway.settings import PREFIX, GatewaySettings, gateway_settings
from penstock.gateway.standing import tell_standing
from penstock.gateway.table_file import TableFile
from penstock.gateway.table_keeper import TableKeeper
from penstock.gateway.usage_file import UsageFile
from penstock.gateway.usage_reporter import UsageReporter
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import Invalid, PenstockError, UnusableFile, naming_files
from penstock.kernel.exit_code import exit_code
from penstock.kernel.log import set_up_log
from penstock.kernel.ownership import exposure
from penstock.kernel.private_file import write_private

_log = structlog.get_logger(__name__)
ADDRESS = "address"
"""The file in the folder that says where the gateway listens, while it does."""


async def serve(settings: GatewaySettings) -> None:
    """Serves until told to stop. Raises Invalid, Unavailable, UnusableFile."""
    source = _source(settings)
    with naming_files(), _own_folder(settings.path):
        try:
            async with _running(settings, source) as work:
                stopping = asyncio.create_task(_told_to_stop(), name="signal to stop")
                await asyncio.wait([work, stopping], return_when=asyncio.FIRST_COMPLETED)
                stopping.cancel()
                if work.done():
                    await work  # it goes on until it is cancelled, so this raises
        except* (PenstockError, OSError) as errors:
            raise errors.exceptions[0] from None


@asynccontextmanager
async def _running(settings: GatewaySettings, source: AccessSource) -> AsyncIterator["asyncio.Task[None]"]:
    """Link, proxy and what goes on between them; the proxy ends first, so that the last calls are told."""
    name, folder, clock = source.read().gateway, settings.path, SystemClock()
    link, ended = Link(source, name), asyncio.Event()
    async with asyncio.TaskGroup() as group:
        proxy = Gateway(settings, folder / "envoy")
        keeper = TableKeeper(name, link, proxy, TableFile(folder), clock)
        log = AccessLog(proxy.access_log, proxy.reopen_log)
        calls = CallStream(name, link, clock, settings.calls_per_second)
        linking = group.create_task(link.serve(keeper.look), name="link")
        reporter = UsageReporter(name, log, UsageFile(folder), link, calls)
        reporting = group.create_task(reporter.serve(ended), name="usage")
        try:
            async with proxy:
                write_private(folder / ADDRESS, proxy.address)
                _log.info("gateway serves", gateway=name, address=proxy.address)
                work = asyncio.create_task(_keep(keeper, link), name="table")
                try:
                    yield work
                finally:
                    work.cancel()
                    (folder / ADDRESS).unlink(missing_ok=True)
                    await asyncio.wait([work])
        finally:
            ended.set()
            await reporting
            linking.cancel()


async def _keep(keeper: TableKeeper, link: Link) -> None:
    async with asyncio.TaskGroup() as group:
        group.create_task(keeper.serve())
        group.create_task(tell_standing(keeper, link))


def _source(settings: GatewaySettings) -> AccessSource:
    if settings.link_file:
        return LinkFile(Path(settings.link_file))
    if not settings.nats_url:
        raise Invalid.one("PENSTOCK_GATEWAY_NATS_URL", "must be set")
    if not settings.credentials:
        raise Invalid.one("PENSTOCK_GATEWAY_CREDENTIALS", "must be set")
    return CredentialsFile(Path(settings.credentials), settings.nats_url)


@contextmanager
def _own_folder(folder: Path) -> Iterator[None]:
    """Makes the folder and holds it. Raises UnusableFile when another gateway does, or others could read it."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    if problem := exposure(folder.stat(), os.geteuid()):
        raise UnusableFile(f"{folder} {problem}")
    with (folder / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UnusableFile(f"another gateway uses the folder {folder}") from None
        yield


async def _told_to_stop() -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    await stop.wait()


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Exit code: 0 stopped, 2 bad settings, 1 anything else."""

    def run() -> None:
        settings = gateway_settings({name: value for name, value in environment.items() if name.startswith(PREFIX)})
        set_up_log(settings.log_format, settings.log_level)
        uvloop.run(serve(settings))

    return exit_code("The gateway", run)


if __name__ == "__main__":
    sys.exit(main())
