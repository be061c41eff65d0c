"""`penstock serve`: the control plane as one process."""

import asyncio
import gc
import os
import signal
import socket
from collections.abc import Mapping

import structlog
import uvloop

from penstock.kernel.errors import naming_files
from penstock.kernel.exit_code import exit_code, tell
from penstock.server.first_start import prepare_first_start
from penstock.server.http import http_server, listening_socket
from penstock.server.log import set_up_logs
from penstock.server.platform import Platform, open_platform
from penstock.server.settings import ServerSettings, server_settings
from penstock.server.web import web_application
from penstock.server.workers import run_workers

log = structlog.get_logger(__name__)

_GARBAGE = 10_000  # objects made and not freed until the collector looks at the young ones


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Runs until SIGTERM or SIGINT. Returns the exit code: 0 stopped, 2 bad settings, 1 anything else."""

    def run() -> None:
        settings = server_settings(environment)
        set_up_logs(settings.log_format, settings.log_level)
        uvloop.run(serve(settings))

    return exit_code("Penstock", run)


async def serve(settings: ServerSettings) -> None:
    """Opens the platform and answers requests until told to stop."""
    listener = listening_socket(settings)
    async with open_platform(settings, progress=lambda step: log.info(step)) as platform:
        with naming_files():
            password = await prepare_first_start(platform)
        if password:
            tell(f"First Admin: admin, password {password} (shown only now)")
        await _run(platform, listener)


async def _run(platform: Platform, listener: socket.socket) -> None:
    server = http_server(web_application(platform), platform.settings)
    _spare_what_stays()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for signal_number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signal_number, stop.set)
    workers = asyncio.create_task(run_workers(platform.workers), name="workers")
    serving = asyncio.create_task(server.serve([listener]), name="http")
    stopping = asyncio.create_task(stop.wait(), name="stop signal")
    log.info("serving", address=platform.settings.address)
    await asyncio.wait({workers, serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
    log.info("stopping")
    platform.stopping.set()
    server.should_exit = True
    await serving
    stopping.cancel()
    workers.cancel()
    await asyncio.gather(workers, stopping, return_exceptions=True)


def _spare_what_stays() -> None:
    """Keeps the collector off what has been made by now, which stays, and which it went through again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_GARBAGE)
