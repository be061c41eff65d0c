"""`log:NAME`: writes the message to the flow's log."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.component import Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange, text_of
from penstock.flow.listener import Level

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
    show_exchange_id: Annotated[bool, Meta(description="Shows the exchange id.")] = False
    show_properties: Annotated[bool, Meta(description="Shows the exchange properties.")] = False
    show_headers: Annotated[bool, Meta(description="Shows the headers.")] = False
    show_body_type: Annotated[bool, Meta(description="Shows the body's type.")] = True
    show_body: Annotated[bool, Meta(description="Shows the body.")] = True
    skip_body_line_separator: Annotated[bool, Meta(description="Shows the body on one line.")] = True
    max_chars: Annotated[int, Meta(description="Length at which a line is cut.", ge=1)] = 10_000

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        flow.log(self.level, self._line(exchange), self.logger_name, exchange.id)

    def _line(self, exchange: Exchange) -> str:
        if self.plain:
            return self._cut(_shown(exchange.body))
        parts: list[str] = []
        if self.show_exchange_id:
            parts.append(f"Id: {exchange.id}")
        if self.show_properties:
            parts.append(f"Properties: {_sorted(exchange.properties.items())}")
        if self.show_headers:
            parts.append(f"Headers: {_sorted(exchange.headers.items())}")
        if self.show_body_type:
            parts.append(f"BodyType: {_type_name(exchange.body)}")
        if self.show_body:
            body = _shown(exchange.body)
            parts.append(f"Body: {body.replace(chr(10), '') if self.skip_body_line_separator else body}")
        return f"Exchange[{self._cut(', '.join(parts))}]"

    def _cut(self, line: str) -> str:
        return line if len(line) <= self.max_chars else f"{line[: self.max_chars]}..."


def _shown(body: object) -> str:
    return "[Body is null]" if body is None else text_of(body)


def _type_name(body: object) -> str:
    return "null" if body is None else _JAVA_NAMES.get(type(body), type(body).__name__)


def _sorted(entries: "object") -> str:
    pairs = sorted(entries)  # type: ignore[call-overload]
    return "{" + ", ".join(f"{name}={text_of(value)}" for name, value in pairs) + "}"
