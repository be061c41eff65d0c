"""`nats:SUBJECT`: messages of a NATS server of your own."""

import asyncio
from collections.abc import Iterable
from datetime import timedelta
from typing import Annotated

from msgspec import Meta
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError
from nats.errors import TimeoutError as NatsTimeout

from penstock.egress.nats_flush import flushed
from penstock.flow.body import BodyUnsuitable, body_of, bytes_of
from penstock.flow.component import Consumer, Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange, text_of
from penstock.flow.headers import Headers
from penstock.flow.intake import Intake
from penstock.flow.listener import Level
from penstock.flow.nats_link import NatsFailed, NatsLink, Servers, addresses, opened
from penstock.flow.period import Period
from penstock.flow.poller import take
from penstock.flow.text import Text

_WAITING = 1000  # messages that were received and not taken yet
_WAITING_BYTES = 64 * 1024 * 1024
_OWN = ("camel", "org.apache.camel.")


class Nats(Consumer, Producer, frozen=True, kw_only=True):
    """In `to`, publishes the body on a subject; when an answer is expected, asks, and the answer becomes the body. In
    `from`, each message is an exchange, one after the other; a message that asks is answered with the body.

    Only what is published while the flow runs is heard. Headers go along. Sets CamelNatsSubject, CamelNatsReplyTo and
    CamelNatsQueueName.
    """

    element = "nats"
    path = "topic"

    topic: Annotated[str, Meta(description="The subject; `*` and `>` in `from`.", pattern=r"^\S+$")]
    servers: Annotated[
        Text,
        Meta(description="Addresses like `nats://user:{{var:PASSWORD}}@host:4222`, with commas between."),
    ]
    connection_timeout: Annotated[Period, Meta(description="Time to connect.")] = Period(seconds=2)
    queue_name: Annotated[
        str, Meta(description="In `from`: the queue group; one of its members gets each message.")
    ] = ""
    max_messages: Annotated[int, Meta(description="In `from`: stops after so many. 0: never.", ge=0)] = 0
    reply_to_disabled: Annotated[bool, Meta(description="In `from`: answers no message.")] = False
    max_reconnect_attempts: Annotated[
        int, Meta(description="In `from`: how often to connect again in a row. -1: without end.", ge=-1)
    ] = 60
    reconnect_time_wait: Annotated[Period, Meta(description="In `from`: time before connecting again.")] = Period(
        seconds=2
    )
    reply_subject: Annotated[str, Meta(description="In `to`: subject for answers, which are not waited for.")] = ""
    request_timeout: Annotated[Period, Meta(description="In `to`: time to wait for an answer.")] = Period(seconds=20)

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        if exchange.body is None:
            raise BodyUnsuitable("No body available of type: java.lang.String")
        client = await (await self._link(flow)).client()
        body, headers = bytes_of(exchange.body), dict(_outgoing(exchange.headers)) or None
        try:
            if exchange.in_out:
                answer = await client.request(self.topic, body, self.request_timeout.total_seconds(), headers=headers)
                _take(answer, exchange)
            else:
                await client.publish(self.topic, body, self.reply_subject, headers)
                await flushed(client, max(1, round(self.connection_timeout.total_seconds())))
        except NatsTimeout:
            raise NatsFailed(f"nobody answered on '{self.topic}' within {self.request_timeout}") from None
        except (NatsError, OSError) as error:
            raise NatsFailed(f"'{self.topic}' cannot be published on: {type(error).__name__}") from None

    async def start(self, intake: Intake) -> None:
        link = await self._link(intake.flow)
        subscription = await self._subscribe(link, intake)
        intake.serve(self._keep(link, subscription, intake))

    async def _keep(self, link: NatsLink, subscription: Subscription, intake: Intake) -> None:
        """Keeps the subscription, also when the connection is lost. Raises NatsFailed when it stays lost."""
        while True:
            try:
                await link.lost.wait()
            finally:
                await _end(subscription)
            intake.flow.log(Level.WARN, "The connection to NATS was lost", intake.route)
            subscription = await self._again(link, intake)
            intake.flow.log(Level.INFO, "The connection to NATS is there again", intake.route)

    async def _again(self, link: NatsLink, intake: Intake) -> Subscription:
        attempt = 0
        while True:
            await asyncio.sleep(self.reconnect_time_wait.total_seconds())
            attempt += 1
            try:
                return await self._subscribe(link, intake)
            except NatsFailed:
                if attempt == self.max_reconnect_attempts:
                    raise

    async def _subscribe(self, link: NatsLink, intake: Intake) -> Subscription:
        async def handle(message: Msg) -> None:
            await self._handle(message, link, intake)

        client = await link.client()
        try:
            subscription = await client.subscribe(
                self.topic,
                queue=self.queue_name,
                cb=handle,
                pending_msgs_limit=_WAITING,
                pending_bytes_limit=_WAITING_BYTES,
            )
            if self.max_messages:
                await subscription.unsubscribe(self.max_messages)
            await flushed(client, max(1, round(self.connection_timeout.total_seconds())))
        except (NatsError, OSError) as error:
            raise NatsFailed(f"'{self.topic}' cannot be subscribed to: {type(error).__name__}") from None
        return subscription

    async def _handle(self, message: Msg, link: NatsLink, intake: Intake) -> None:
        if not intake.active and not self.queue_name:  # another version of the flow has the message as well
            return
        exchange = intake.exchange()
        exchange.in_out = bool(message.reply)
        _take(message, exchange)
        if self.queue_name:
            exchange.headers["CamelNatsQueueName"] = self.queue_name
        exchange.headers["CamelNatsMessageTimestamp"] = int(exchange.created.timestamp() * 1000)

        async def answer(done: Exchange) -> None:
            if message.reply and not self.reply_to_disabled and done.error is None and done.body is not None:
                await (await link.client()).publish(message.reply, bytes_of(done.body))

        await take(intake, exchange, answer)

    async def _link(self, flow: FlowContext) -> NatsLink:
        text = await self.servers.resolve(flow.variables)
        try:
            servers = Servers(tuple(addresses(text)), timedelta(seconds=self.connection_timeout.total_seconds()))
        except ValueError as error:
            raise NatsFailed(f"servers: {error}") from None
        for server in servers.addresses:
            if server.password:
                flow.variables.keep_secret(server.password)
        return await flow.resource(("nats", servers), lambda: opened(servers, flow))


def _outgoing(headers: Headers) -> Iterable[tuple[str, str]]:
    for name, value in headers.items():
        text = text_of(value).replace("\r", " ").replace("\n", " ")
        if value is not None and text and not name.lower().startswith(_OWN):
            yield name, text


def _take(message: Msg, exchange: Exchange) -> None:
    """Makes the message the exchange's."""
    exchange.body = body_of(message.data)
    for name, value in (message.headers or {}).items():
        if not name.lower().startswith(_OWN):
            exchange.headers[name] = value
    exchange.headers["CamelNatsSubject"] = message.subject
    if message.reply:
        exchange.headers["CamelNatsReplyTo"] = message.reply


async def _end(subscription: Subscription) -> None:
    try:
        await subscription.unsubscribe()
    except (NatsError, OSError, ValueError):
        return  # it ended with the connection, or after its last message
