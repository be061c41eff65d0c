"""`log:NAME`: writes the message to the flow's log."""

from collections.abc import Iterable, Iterator
from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange, text_of
from penstock.flow.failures.errors import java_names
from penstock.flow.listener import Level
from penstock.flow.values import shown

_JAVA_NAMES = {
    str: "String",
    bytes: "byte[]",
    int: "Integer",
    float: "Double",
    bool: "Boolean",
    dict: "Map",
    list: "List",
}


class Log(Producer, frozen=True, kw_only=True):
    """Writes a line like `Exchange[BodyType: String, Body: hello]`."""

    element = "log"
    path = "loggerName"

    logger_name: Annotated[str, Meta(description="Name of the logger.", min_length=1)]
    level: Annotated[Level, Meta(description="Severity of the line.")] = Level.INFO
    plain: Annotated[bool, Meta(description="Only the body.")] = False
    show_all: Annotated[bool, Meta(description="Shows all there is.")] = False
    show_exchange_id: Annotated[bool, Meta(description="Shows the exchange id.")] = False
    show_route_id: Annotated[bool, Meta(description="Shows the route.")] = False
    show_exchange_pattern: Annotated[bool, Meta(description="Shows whether somebody waits for the message.")] = False
    show_properties: Annotated[bool, Meta(description="Shows the exchange properties.")] = False
    show_headers: Annotated[bool, Meta(description="Shows the headers.")] = False
    show_body_type: Annotated[bool, Meta(description="Shows the body's type.")] = True
    show_body: Annotated[bool, Meta(description="Shows the body.")] = True
    show_caught_exception: Annotated[bool, Meta(description="Shows the error that was caught.")] = False
    skip_body_line_separator: Annotated[bool, Meta(description="Shows the body on one line.")] = True
    multiline: Annotated[bool, Meta(description="Shows each thing on a line of its own.")] = False
    max_chars: Annotated[int, Meta(description="Length at which a line is cut.", ge=1)] = 10_000

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        flow.log(self.level, self._line(exchange), self.logger_name, exchange.id)

    def _line(self, exchange: Exchange) -> str:
        if self.plain:
            return self._cut(_shown(exchange.body))
        parts = [f"{name}: {value}" for name, value in self._shown_of(exchange)]
        if self.multiline:
            return "Exchange[\n" + "".join(f"  {self._cut(part)}\n" for part in parts) + "]"
        return f"Exchange[{self._cut(', '.join(parts))}]"

    def _shown_of(self, exchange: Exchange) -> Iterator[tuple[str, str]]:
        everything = self.show_all
        if everything or self.show_exchange_id:
            yield "Id", exchange.id
        if everything or self.show_route_id:
            yield "RouteId", exchange.route
        if everything or self.show_exchange_pattern:
            yield "ExchangePattern", "InOut" if exchange.in_out else "InOnly"
        if everything or self.show_properties:
            yield "Properties", _sorted(exchange.properties.items())
        if everything or self.show_headers:
            yield "Headers", _sorted(exchange.headers.items())
        if everything or self.show_body_type:
            yield "BodyType", _type_name(exchange.body)
        if everything or self.show_body:
            body = _shown(exchange.body)
            yield "Body", body.replace("\n", "") if self.skip_body_line_separator else body
        caught = exchange.properties.get("CamelExceptionCaught")
        if (everything or self.show_caught_exception) and isinstance(caught, BaseException):
            yield "CaughtExceptionType", java_names(caught)[0]
            yield "CaughtExceptionMessage", str(caught)

    def _cut(self, line: str) -> str:
        return line if len(line) <= self.max_chars else f"{line[: self.max_chars]}..."


def _shown(body: object) -> str:
    return "[Body is null]" if body is None else text_of(body)


def _type_name(body: object) -> str:
    return "null" if body is None else _JAVA_NAMES.get(type(body), type(body).__name__)


def _sorted(entries: Iterable[tuple[str, object]]) -> str:
    pairs = sorted(entries, key=lambda entry: entry[0])
    return "{" + ", ".join(f"{name}={shown(value)}" for name, value in pairs) + "}"
