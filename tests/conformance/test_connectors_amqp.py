import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bus.bus import Bus
from penstock.connectors.amqp import encoding
from penstock.connectors.amqp.address import parse_connection_string
from penstock.connectors.amqp.decoding import Described, Malformed, first_value
from penstock.connectors.amqp.frame import HEADER, LARGEST, SASL_HEADER, Frame, Performative, frame, read_frame
from penstock.connectors.endpoint import Deliver
from penstock.connectors.endpoints.amqp import AmqpEndpoint
from penstock.connectors.failure import DeliveryFailed
from penstock.connectors.registry import built
from penstock.connectors.surroundings import Surroundings
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import Invalid
from penstock.protocol.cloudevent import CloudEvent

pytest_plugins = ("tests.rabbitmq",)

ANYWHERE = AddressGuard(allow_private=True)
BUS = "Endpoint=sb://bus.example.net/;SharedAccessKeyName=send;SharedAccessKey=c2VjcmV0PT0="


def event(id: str = "1", **attributes: Any) -> CloudEvent:
    return CloudEvent(**{"id": id, "source": "/lamps", "type": "lamp.on", "data": {"level": 3}, **attributes})


@asynccontextmanager
async def endpoint(guard: AddressGuard = ANYWHERE, **configuration: Any) -> AsyncIterator[Deliver]:
    surroundings = Surroundings("lamps", cast(Bus, None), guard, SystemClock())
    async with built(AmqpEndpoint, configuration).open(surroundings) as deliver:
        yield deliver


# Values


@given(st.text(), st.binary(), st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1), st.booleans())
def test_values_are_read_as_they_were_written(text: str, data: bytes, number: int, signed: int, flag: bool) -> None:
    items = [
        encoding.string(text),
        encoding.binary(data),
        encoding.ulong(number),
        encoding.long(signed),
        encoding.boolean(flag),
        encoding.map_of({encoding.symbol("key"): encoding.uint(7)}),
    ]
    value, rest = first_value(encoding.described(0x10, encoding.list_of(items)) + b"rest")
    assert value == Described(0x10, [text, data, number, signed, flag, {"key": 7}])
    assert rest == b"rest"


@given(st.lists(st.integers(0, 255).map(lambda n: bytes([0x50, n])), max_size=300))
def test_lists_of_any_length_are_read_as_they_were_written(items: list[bytes]) -> None:
    assert first_value(encoding.list_of(items))[0] == [item[1] for item in items]


@given(st.binary(max_size=60))
def test_any_bytes_are_values_or_refused(data: bytes) -> None:
    try:
        first_value(data)
    except Malformed:
        return


# Connection strings


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("amqp://ada:p%40ss@queue.example", ("queue.example", 5672, False, "ada", "p@ss", "")),
        ("amqps://queue.example:6000", ("queue.example", 6000, True, "", "", "")),
        (BUS, ("bus.example.net", 5671, True, "send", "c2VjcmV0PT0=", "")),
        (BUS + ";EntityPath=orders", ("bus.example.net", 5671, True, "send", "c2VjcmV0PT0=", "orders")),
        (BUS + ";UseDevelopmentEmulator=true;", ("bus.example.net", 5672, False, "send", "c2VjcmV0PT0=", "")),
    ],
)
def test_connection_strings_of_both_forms_are_read(text: str, expected: tuple[Any, ...]) -> None:
    assert msgspec.structs.astuple(parse_connection_string(text)) == expected


@pytest.mark.parametrize("text", ["", "secret", "http://secret", "amqp://", "amqp://h:secret", "Endpoint=sb://secret/"])
def test_other_texts_are_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(ValueError, match="must be like") as caught:
        parse_connection_string(text)
    assert "secret" not in str(caught.value)


def test_a_queue_must_be_named_somewhere() -> None:
    with pytest.raises(Invalid, match="queue: is required"):
        built(AmqpEndpoint, {"connectionString": BUS})
    built(AmqpEndpoint, {"connectionString": BUS + ";EntityPath=orders"})


# A real broker


@asynccontextmanager
async def receiving(connection_string: str, queue: str) -> AsyncIterator["Receiver"]:
    address = parse_connection_string(connection_string)
    reader, writer = await asyncio.open_connection(address.host, address.port)
    receiver = Receiver(reader, writer)
    await receiver.attach(address.user, address.password, queue)
    try:
        yield receiver
    finally:
        writer.close()


class Receiver:
    """Reads a queue over AMQP 1.0, as small as can be."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def attach(self, user: str, password: str, queue: str) -> None:
        self._writer.write(SASL_HEADER)
        response = encoding.binary(f"\0{user}\0{password}".encode())
        self._writer.write(frame(Performative.SASL_INIT, [encoding.symbol("PLAIN"), response]))
        await self._reader.readexactly(8)
        assert (await self._next(Performative.SASL_OUTCOME)).field(0) == 0
        window = encoding.uint(2**31 - 1)
        self._writer.write(HEADER)
        self._writer.write(frame(Performative.OPEN, [encoding.string("reader"), encoding.NULL, encoding.uint(LARGEST)]))
        self._writer.write(frame(Performative.BEGIN, [encoding.NULL, encoding.uint(0), window, window]))
        source = encoding.described(0x28, encoding.list_of([encoding.string(queue)]))
        target = encoding.described(0x29, encoding.list_of([encoding.string("reader")]))
        settled = encoding.ubyte(1)
        self._writer.write(
            frame(
                Performative.ATTACH,
                [
                    encoding.string("in"),
                    encoding.uint(0),
                    encoding.boolean(True),
                    settled,
                    encoding.ubyte(0),
                    source,
                    target,
                ],
            )
        )
        await self._reader.readexactly(8)
        await self._next(Performative.ATTACH)
        zero, credit = encoding.uint(0), encoding.uint(1000)
        self._writer.write(frame(Performative.FLOW, [zero, window, zero, window, zero, zero, credit]))

    async def message(self) -> dict[int, Any]:
        """The sections of the next message by their descriptors."""
        async with asyncio.timeout(10):
            found = await self._next(Performative.TRANSFER)
            payload = found.payload
            while found.field(5):
                found = await self._next(Performative.TRANSFER)
                payload += found.payload
        sections = {}
        while payload:
            section, payload = first_value(payload)
            sections[section.code] = section.value
        return sections

    async def _next(self, wanted: Performative) -> Frame:
        while True:
            found = await read_frame(self._reader)
            if found is not None and found.performative is wanted:
                return found


PROPERTIES, APPLICATION_PROPERTIES, DATA = 0x73, 0x74, 0x75


async def test_a_queue_of_a_real_broker_gets_events_in_json(rabbitmq: str) -> None:
    queue = "/queue/structured"
    async with endpoint(connectionString=rabbitmq, queue=queue) as deliver:
        await deliver(event("1"))
        await deliver(event("2"))
        async with receiving(rabbitmq, queue) as receiver:
            for id in ("1", "2"):
                message = await receiver.message()
                assert message[PROPERTIES][6] == "application/cloudevents+json"
                assert message[PROPERTIES][0] == event(id).key
                assert CloudEvent.from_json(message[DATA]) == event(id)


async def test_in_binary_mode_attributes_are_properties(rabbitmq: str) -> None:
    queue = "/queue/binary"
    async with endpoint(connectionString=rabbitmq, queue=queue, binary=True) as deliver:
        await deliver(event(extensions={"urgent": True, "count": -3}, datacontenttype="application/json"))
        async with receiving(rabbitmq, queue) as receiver:
            message = await receiver.message()
    assert message[PROPERTIES][6] == "application/json"
    assert message[APPLICATION_PROPERTIES] == {
        "cloudEvents_specversion": "1.0",
        "cloudEvents_id": "1",
        "cloudEvents_source": "/lamps",
        "cloudEvents_type": "lamp.on",
        "cloudEvents_urgent": True,
        "cloudEvents_count": -3,
    }
    assert msgspec.json.decode(message[DATA]) == {"level": 3}


async def test_many_events_and_large_ones_arrive_whole(rabbitmq: str) -> None:
    queue = "/queue/many"
    large = event("large", data="x" * 1_000_000)
    async with endpoint(connectionString=rabbitmq, queue=queue) as deliver:
        async with asyncio.TaskGroup() as group:
            for number in range(500):
                group.create_task(deliver(event(str(number))))
        await deliver(large)
        async with receiving(rabbitmq, queue) as receiver:
            ids = [CloudEvent.from_json((await receiver.message())[DATA]).id for _ in range(500)]
            assert ids == [str(number) for number in range(500)]
            assert CloudEvent.from_json((await receiver.message())[DATA]) == large


async def test_wrong_credentials_and_unknown_targets_are_told(rabbitmq: str) -> None:
    stranger = rabbitmq.replace("guest:guest", "guest:wrong-password")
    async with endpoint(connectionString=stranger, queue="/queue/q") as deliver:
        with pytest.raises(DeliveryFailed, match="refuses the credentials") as caught:
            await deliver(event())
        assert "wrong-password" not in caught.value.detail
    async with endpoint(connectionString=rabbitmq, queue="/exchange/nothing/x") as deliver:
        with pytest.raises(DeliveryFailed, match="no exchange 'nothing'"):
            await deliver(event())


async def test_a_broker_that_is_away_is_connected_to_again(rabbitmq: str) -> None:
    port = int(rabbitmq.rpartition(":")[2])
    proxy = await asyncio.start_server(lambda r, w: _pipe(r, w, port), "127.0.0.1", 0)
    address = proxy.sockets[0].getsockname()[1]
    async with endpoint(connectionString=f"amqp://guest:guest@127.0.0.1:{address}", queue="/queue/again") as deliver:
        await deliver(event("1"))
        _cut_all()
        with suppress(DeliveryFailed):  # the loss may be noticed before
            await deliver(event("2"))
        await deliver(event("3"))
    proxy.close()


async def test_private_addresses_are_refused() -> None:
    guarded = AddressGuard(allow_private=False)
    async with endpoint(guarded, connectionString="amqp://guest:guest@127.0.0.1:5672", queue="q") as deliver:
        with pytest.raises(DeliveryFailed, match="private"):
            await deliver(event())


async def test_what_does_not_speak_amqp_is_a_failure() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with endpoint(connectionString=f"amqp://a:b@127.0.0.1:{port}", queue="q") as deliver:
        with pytest.raises(DeliveryFailed, match="another protocol"):
            await deliver(event())
    server.close()


_open: list[asyncio.StreamWriter] = []


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
    far_reader, far_writer = await asyncio.open_connection("127.0.0.1", port)
    _open.extend([writer, far_writer])
    async with asyncio.TaskGroup() as group:
        group.create_task(_copy(reader, far_writer))
        group.create_task(_copy(far_reader, writer))


async def _copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(65536):
            writer.write(data)
    except ConnectionError:
        pass
    writer.close()


def _cut_all() -> None:
    while _open:
        _open.pop().transport.abort()
