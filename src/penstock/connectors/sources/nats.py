"""`nats`: messages of a subject on a NATS server of your own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Annotated, Any

import structlog
from msgspec import Meta
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.client import JetStreamContext

from penstock.connectors.http_body import BINARY, body_of, guessed
from penstock.connectors.kind import Secret
from penstock.connectors.source import Emit, Finding, Findings, Position, SourceFailed, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.egress.nats_address import NatsAddress
from penstock.egress.nats_flush import flushed
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.ids import new_id

_log = structlog.get_logger(__name__)

_CONNECT_SECONDS = 10
_FETCH_SECONDS = 5.0
_AT_ONCE = 200
_WAITING = 10_000
_TYPE = "penstock.nats.message"


class NatsSource(SourceKind, frozen=True):
    """Sends an event for each message of a subject (`penstock.nats.message`).

    With `stream` the messages are read from that JetStream stream, from where the source has read to; what comes while
    nobody runs it is read later. Without, only what is published while it runs is heard.
    """

    identifier = "nats"
    shared = True

    servers: Annotated[
        list[str], Meta(min_length=1, description="Addresses such as `nats://host:4222` or `tls://host:4222`.")
    ]
    subject: Annotated[str, Meta(min_length=1, description="Subject of the messages, wildcards allowed.")]
    stream: Annotated[str | None, Meta(description="JetStream stream to read the messages from.")] = None
    queue: Annotated[
        str | None, Meta(description="Queue group: of all members one gets each message. Not with `stream`.")
    ] = None
    user: Annotated[str | None, Meta(description="User name.")] = None
    password: Annotated[Secret | None, Meta(description="Password of the user.")] = None
    token: Annotated[Secret | None, Meta(description="Token, in place of user and password.")] = None

    def check(self) -> None:
        super().check()
        errors = []
        for index, server in enumerate(self.servers):
            try:
                address = NatsAddress.parse(server)
            except ValueError as error:
                errors.append(FieldError(f"servers[{index}]", str(error)))
            else:
                if address.user or address.password:
                    errors.append(FieldError(f"servers[{index}]", "must not contain credentials"))
        if any(character.isspace() for character in self.subject):
            errors.append(FieldError("subject", "must not contain blanks"))
        if self.stream is not None and self.queue is not None:
            errors.append(FieldError("queue", "must not be given together with stream"))
        if errors:
            raise Invalid(errors)

    def targets(self) -> Mapping[str, str]:
        return {f"servers[{index}]": NatsAddress.parse(server).host for index, server in enumerate(self.servers)}

    def origin(self) -> Sequence[Any]:
        return [sorted(self.servers), self.stream, self.subject]

    async def listen(self, position: Position, emit: Emit, surroundings: SourceSurroundings) -> None:
        lost: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        try:
            async with self._connected(surroundings, lost) as client:
                work = self._read(client, position, emit) if self.stream else self._hear(client, emit)
                await _unless(lost, work)
        except NatsError as error:
            raise SourceFailed(f"the server refuses: {type(error).__name__}") from None
        raise SourceFailed("the connection was lost")

    async def _read(self, client: Client, position: Position, emit: Emit) -> None:
        """Reads the stream from where the source has read to."""
        context = client.jetstream()
        if position is None:
            info = await context.stream_info(self.stream or "")
            position = info.state.last_seq
        await emit(Findings(position=position))
        subscription = await self._from(context, position)
        while True:
            try:
                messages = await subscription.fetch(_AT_ONCE, timeout=_FETCH_SECONDS)
            except NatsTimeout:
                await context.stream_info(self.stream or "")  # is it still there?
                continue
            position = messages[-1].metadata.sequence.stream
            found = [_finding(message, f"{self.stream} {message.metadata.sequence.stream}") for message in messages]
            await emit(Findings(found=found, position=position))

    async def _from(self, context: JetStreamContext, position: int) -> JetStreamContext.PullSubscription:
        return await context.pull_subscribe(
            self.subject,
            stream=self.stream,
            config=ConsumerConfig(
                ack_policy=AckPolicy.NONE,
                deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
                opt_start_seq=position + 1,
                inactive_threshold=60,
            ),
        )

    async def _hear(self, client: Client, emit: Emit) -> None:
        subscription = await client.subscribe(
            self.subject, queue=self.queue or "", pending_msgs_limit=_WAITING, pending_bytes_limit=-1
        )
        await flushed(client, _CONNECT_SECONDS)
        await emit(Findings())
        while True:
            message = await subscription.next_msg(timeout=None)
            found = [_finding(message, (message.headers or {}).get("Nats-Msg-Id") or new_id().hex)]
            while len(found) < _AT_ONCE and subscription.pending_msgs:
                message = await subscription.next_msg(timeout=None)
                found.append(_finding(message, (message.headers or {}).get("Nats-Msg-Id") or new_id().hex))
            await emit(Findings(found=found))

    @asynccontextmanager
    async def _connected(self, surroundings: SourceSurroundings, lost: "asyncio.Future[None]") -> AsyncIterator[Client]:
        async def end() -> None:
            if not lost.done():
                lost.set_result(None)

        client = await self._connect(surroundings, end)
        try:
            yield client
        finally:
            with suppress(NatsError, OSError):
                await client.close()

    async def _connect(self, surroundings: SourceSurroundings, end: Callable[[], Awaitable[None]]) -> Client:
        reasons = []
        for server in self.servers:
            address = NatsAddress.parse(server)
            client = Client()
            try:
                await client.connect(
                    await address.pinned(surroundings.guard),
                    name=f"penstock {surroundings.name}",
                    user=self.user,
                    password=self.password,
                    token=self.token,
                    tls_hostname=address.host,
                    connect_timeout=_CONNECT_SECONDS,
                    allow_reconnect=False,
                    max_reconnect_attempts=1,
                    reconnect_time_wait=0,
                    disconnected_cb=end,
                    closed_cb=end,
                    error_cb=_log_error,
                )
            except (NatsError, OSError) as error:
                await client.close()  # nats-py leaves the socket open when the handshake fails
                # Not the error's own text, which may repeat the address with what is in it.
                reasons.append(f"{address.host}: {type(error).__name__}")
            else:
                return client
        raise SourceFailed(f"no server can be reached ({', '.join(reasons)})")


def _finding(message: Msg, key: str) -> Finding:
    media, data = body_of((message.headers or {}).get("Content-Type", ""), message.data)
    if media == BINARY:
        media, data = guessed(message.data)
    return Finding(key=key, type=_TYPE, subject=message.subject, data=data, media_type=media)


async def _unless(lost: "asyncio.Future[None]", work: Coroutine[Any, Any, None]) -> None:
    """Works until `lost` is done."""
    working = asyncio.ensure_future(work)
    try:
        await asyncio.wait({working, lost}, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            working.result()
    finally:
        working.cancel()
        await asyncio.wait({working})


async def _log_error(error: Exception) -> None:
    _log.debug("nats source's connection reports an error", error=type(error).__name__)
