"""The agent as a program: settings in, exit code out."""

import asyncio
import ctypes
import os
import signal
import sys
import threading
from collections.abc import Mapping

import structlog
import uvloop

from penstock.agent.agent import Agent
from penstock.agent.database import DamagedDatabase
from penstock.agent.folder import FolderInUse
from penstock.agent.identity import DamagedIdentity
from penstock.agent.link import Refused
from penstock.agent.log import set_up_log
from penstock.agent.settings import AgentSettings, read_agent_settings
from penstock.kernel.errors import Invalid, PenstockError, Unavailable, UnusableFile

STOPPED, BAD_SETTINGS, REFUSED, FOLDER_UNUSABLE = 0, 2, 3, 4
"""Exit codes; any other error gives 1."""

_PR_SET_PDEATHSIG = 1
_LONGEST_STOP_SECONDS = 9.5
_CODES: dict[type[PenstockError], int] = {
    Invalid: BAD_SETTINGS,
    Refused: REFUSED,
    FolderInUse: FOLDER_UNUSABLE,
    DamagedIdentity: FOLDER_UNUSABLE,
    DamagedDatabase: FOLDER_UNUSABLE,
    Unavailable: FOLDER_UNUSABLE,
    UnusableFile: FOLDER_UNUSABLE,
}
_log = structlog.get_logger(__name__)


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Runs an agent until SIGTERM or SIGINT; answers the exit code."""
    try:
        settings = read_agent_settings(environment)
    except Invalid as error:
        for problem in error.errors:
            print(f"{problem.field}: {problem.message}", file=sys.stderr)  # noqa: T201
        return BAD_SETTINGS
    set_up_log(settings.log_format, settings.log_level)
    if settings.with_parent:
        _die_with_parent()
    try:
        uvloop.run(_run(settings))
    except PenstockError as error:
        _log.error("the agent cannot run", code=error.code, reason=str(error))
        return next((code for kind, code in _CODES.items() if isinstance(error, kind)), 1)
    return STOPPED


async def _run(settings: AgentSettings) -> None:
    agent = Agent(settings)
    last_resort = threading.Timer(_LONGEST_STOP_SECONDS, _give_up)
    last_resort.daemon = True

    def stop() -> None:
        if not last_resort.is_alive():
            last_resort.start()
        agent.stop()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop)
    await agent.run()
    last_resort.cancel()
    _log.info("stopped")


def _give_up() -> None:
    """Ends the process when a disk or a loop that does not answer holds up the stop; the watchdog sees to the rest."""
    _log.error("the agent did not stop in time and ends at once")
    os._exit(1)


def _die_with_parent() -> None:
    """SIGTERM comes when the parent ends, however that happens."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if parent == 1 or os.getppid() != parent:  # it ended before we asked
        os.kill(os.getpid(), signal.SIGTERM)
