"""The life of one endpoint: initialized, watched, tried again, given up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Protocol

import msgspec
import structlog

from penstock.apihost.host import ApiHost, Launch
from penstock.apihost.message import ApiFailed
from penstock.apihost.process import ApiProcess
from penstock.apihost.proxy import Proxy, TooSlow
from penstock.apihost.standing import moved
from penstock.apihost.upstream import Unreached
from penstock.kernel.clock import Clock
from penstock.kernel.errors import PenstockError, Unavailable
from penstock.protocol.endpoint import EndpointStanding
from penstock.protocol.status import EndpointStatusEnum2 as Status

_LARGEST_SCHEMA = 1024 * 1024
_END_SECONDS = 0.5
_log = structlog.get_logger(__name__)

Prepare = Callable[[], Awaitable[Launch]]


class Record(Protocol):
    """Where it is noted how an endpoint stands."""

    @property
    def status(self) -> EndpointStanding: ...

    async def note(self, status: EndpointStanding) -> None:
        """Keeps it."""
        ...


class EndpointLife:
    """`serve` is its life. proxy: leads to the process while there is one."""

    def __init__(self, name: str, route: str, record: Record, host: ApiHost, clock: Clock) -> None:
        self.name = name
        self.route = route
        self.proxy: Proxy | None = None
        self._record = record
        self._host = host
        self._policy = host.policy
        self._clock = clock
        self._failures = 0

    @property
    def status(self) -> Status:
        return self._record.status.status

    async def serve(self, prepare: Prepare) -> None:
        """Until cancelled, or given up: then only a change begins it again. prepare: what it raises is a failure."""
        while self._failures < self._policy.tries:
            await self._move(Status.INITIALIZING)
            try:
                async with self._started(await prepare()) as (process, proxy):
                    await self._ready(process, proxy)
            except Unavailable as error:  # the servers are away, which says nothing about the endpoint
                await self._move(Status.INITIALIZING_FAILED, error.detail)
                await asyncio.sleep(self._policy.pause)
            except PenstockError as error:
                await self._failed(error.detail)
        await self._move(Status.FAILED, f"given up after {self._failures} failures: {self._last_reason()}")

    @asynccontextmanager
    async def _started(self, launch: Launch) -> AsyncIterator[tuple[ApiProcess, Proxy]]:
        try:
            process = await self._host.start(self.name, self.route, launch)
        except ApiFailed as error:
            raise ApiFailed(launch.secrets.hidden(error.detail)) from None
        try:
            async with Proxy(process.socket, self._policy.patience, self._policy.most) as proxy:
                yield process, proxy
        finally:
            self.proxy = None
            await process.stop()

    async def _ready(self, process: ApiProcess, proxy: Proxy) -> None:
        """Returns once the process has ended."""
        schema = await self._schema(process, proxy)
        self.proxy = proxy
        began = asyncio.get_running_loop().time()
        await self._move(Status.READY, schema=schema)
        reason = await self._watch(process, proxy)
        self.proxy = None
        await self._unwell(reason)
        if asyncio.get_running_loop().time() - began > self._policy.steady:
            self._failures = 0
            return
        self._failures += 1
        if 1 < self._failures < self._policy.tries:
            await asyncio.sleep(self._policy.pause)

    async def _failed(self, reason: str) -> None:
        self._failures += 1
        _log.warning("endpoint cannot be initialized", endpoint=self.name, reason=reason)
        await self._move(Status.INITIALIZING_FAILED, reason)
        if self._failures < self._policy.tries:
            await asyncio.sleep(self._policy.pause)

    async def _watch(self, process: ApiProcess, proxy: Proxy) -> str:
        """Looks at its health until the process ends; says how it ended."""
        ended = asyncio.ensure_future(process.ended())
        try:
            while True:
                done, _ = await asyncio.wait({ended}, timeout=self._policy.probe)
                problem = None if done else await self._problem(process, proxy)
                if problem is not None:
                    # Who does not answer may just have ended, which says more.
                    done, _ = await asyncio.wait({ended}, timeout=_END_SECONDS)
                if done:
                    return ended.result()
                await self._note_health(problem)
        finally:
            ended.cancel()

    async def _note_health(self, problem: str | None) -> None:
        if problem is not None:
            await self._unwell(problem)
        elif self.status is Status.UNHEALTHY:
            await self._move(Status.READY)

    async def _problem(self, process: ApiProcess, proxy: Proxy) -> str | None:
        """What the application's own look at itself finds wrong."""
        started = process.started
        path, worst = (started.health_path, 399) if started.health_path else (started.openapi_path, 499)
        try:
            async with asyncio.timeout(self._policy.probe_patience):
                status, _ = await proxy.get(path, _LARGEST_SCHEMA)
        except TimeoutError:
            return f"{path} does not answer within {self._policy.probe_patience:g} seconds"
        except (Unreached, TooSlow) as error:
            return error.detail
        return f"{path} answers {status}" if status > worst else None

    async def _schema(self, process: ApiProcess, proxy: Proxy) -> str | None:
        """The OpenAPI document that the application shows; None when it shows none that can be used."""
        path = process.started.openapi_path
        try:
            async with asyncio.timeout(self._policy.probe_patience):
                status, body = await proxy.get(path, _LARGEST_SCHEMA)
            if status == 200 and isinstance(msgspec.json.decode(body), dict):
                return body.decode()
        except (TimeoutError, Unreached, TooSlow, msgspec.DecodeError, UnicodeDecodeError) as error:
            _log.warning("api shows no OpenAPI document", endpoint=self.name, path=path, reason=str(error))
        return None

    async def _unwell(self, reason: str) -> None:
        if self.status is Status.READY:
            _log.warning("endpoint is unhealthy", endpoint=self.name, reason=reason)
            await self._move(Status.UNHEALTHY, reason)

    async def _move(self, to: Status, message: str | None = None, schema: str | None = None) -> None:
        standing = moved(self._record.status, to, self._clock.now(), message)
        if schema is not None:
            standing = msgspec.structs.replace(standing, schema=schema)
        _log.info("endpoint moves", endpoint=self.name, status=to)
        await self._record.note(standing)

    def _last_reason(self) -> str:
        return next((move.message for move in reversed(self._record.status.moves) if move.message), "")
