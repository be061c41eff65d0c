"""`penstock apihost`: the component as one process."""

import asyncio
import hmac
import os
import secrets
import signal
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import structlog
import uvloop
from litestar.types import ASGIApp

from penstock.apihost.entrance import Entrance
from penstock.apihost.host import ApiHost, HostPolicy
from penstock.apihost.packages import ApiPackages
from penstock.apihost.trust import TrustedProxies
from penstock.flow.commands.command import AGENT_MARKER
from penstock.flow.commands.guard import Guard
from penstock.kernel.actor import Actor, Role
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import Forbidden, Invalid, Unauthenticated, naming_files
from penstock.kernel.exit_code import exit_code, tell
from penstock.kernel.ids import new_id
from penstock.kernel.ownership import exposure
from penstock.packages.index import PackageIndex
from penstock.resource.operation import operations_of
from penstock.server.apihost.catalog import ApiCatalog
from penstock.server.apihost.front import EndpointConnections
from penstock.server.apihost.hosted import HostedEndpoints
from penstock.server.apihost.http import AdminOperations
from penstock.server.apihost.settings import PREFIX, ApiHostSettings, apihost_settings
from penstock.server.authentication import Authentication
from penstock.server.http import http_server, listening_socket
from penstock.server.log import set_up_logs
from penstock.server.web import operations_application

log = structlog.get_logger(__name__)

_FOLDER = "penstock-apihost"
_MIB = 1024 * 1024


class KeyCheck:
    """Knows the one key of the component."""

    def __init__(self, key: str) -> None:
        self._key = key

    async def actor(self, credential: str) -> Actor | None:
        """See CredentialCheck."""
        if not hmac.compare_digest(credential.encode(), self._key.encode()):
            raise Unauthenticated("the key does not hold")
        return Actor(name="apihost", roles=frozenset({Role.ADMIN}))


def main(environment: Mapping[str, str] = os.environ) -> int:
    """Runs until SIGTERM or SIGINT. Returns the exit code: 0 stopped, 2 bad settings, 1 anything else."""

    def run() -> None:
        settings = apihost_settings(environment)
        set_up_logs(settings.log_format, settings.log_level)
        uvloop.run(serve(settings))

    return exit_code("The API host", run)


async def serve(settings: ApiHostSettings) -> None:
    """Answers requests until told to stop; then nothing that it started is left."""
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    listener = listening_socket(settings, PREFIX)
    async with opened(settings, settings.key or _made_key()) as (operations, connections):
        server = http_server(operations, settings, connections)
        serving = asyncio.create_task(server.serve([listener]), name="http")
        log.info("hosting APIs", host=settings.host, port=listener.getsockname()[1])
        stopping = asyncio.create_task(stop.wait(), name="stop signal")
        await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        server.should_exit = True
        await serving
        stopping.cancel()


@asynccontextmanager
async def opened(settings: ApiHostSettings, key: str) -> AsyncIterator[tuple[ASGIApp, EndpointConnections]]:
    """The operations, and what passes on requests for endpoints; hosts them while it is open.

    Raises Invalid, UnusableFile.
    """
    entrance = Entrance(settings.host, settings.endpoint_key, PREFIX + "ENDPOINT_KEY")
    proxies = TrustedProxies(settings.trusted_proxies, PREFIX + "TRUSTED_PROXIES")
    try:
        entrance.check()
    except Forbidden as error:
        raise Invalid.one(PREFIX + "ENDPOINT_KEY", error.detail) from None
    folder = _folder(settings)
    marker = new_id().hex
    variables = {**os.environ, AGENT_MARKER: marker}
    index = PackageIndex(settings.package_index, settings.package_folder, os.environ)
    policy = HostPolicy(pause=settings.retry_seconds, probe=settings.probe_seconds, most=settings.body_mb * _MIB)
    catalog = ApiCatalog(folder, index)
    host = ApiHost(ApiPackages(folder, index, variables), variables, policy, folder)
    async with Guard(AGENT_MARKER, marker), host, HostedEndpoints(catalog, host, SystemClock()) as endpoints:
        operations = operations_of("apihost", AdminOperations(catalog, endpoints))
        application = operations_application(operations, Authentication([KeyCheck(key)]))
        yield application, EndpointConnections(endpoints, entrance, proxies)


def _folder(settings: ApiHostSettings) -> Path:
    """Where environments are kept. Raises Invalid for a folder that others could put theirs into, UnusableFile."""
    folder = Path(settings.folder or Path(tempfile.gettempdir()) / f"{_FOLDER}-{os.geteuid()}").expanduser()
    with naming_files():
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        if problem := exposure(folder.stat(), os.geteuid()):
            raise Invalid.one(PREFIX + "FOLDER", f"{folder} {problem}")
    return folder


def _made_key() -> str:
    key = secrets.token_urlsafe(24)
    tell(f"Key for this run: {key} (shown only now; {PREFIX}KEY sets one)")
    return key
