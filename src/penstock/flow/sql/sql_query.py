"""Statements of SQL with parameters in Camel's form: `:#name`, `:#${expression}`, `:#in:name` and `#`."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.failures.errors import FlowError
from penstock.flow.simple import SimpleTemplate

_PARTS = re.compile(
    r"(?P<kept>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*|/\*.*?\*/)"
    r"|:\#(?P<many>in:)?(?:(?P<name>\w+)|\$(?:simple)?\{(?P<function>(?:[^{}]|\{[^{}]*\})*)\})"
    r"|(?P<place>\#)",
    re.DOTALL,
)


class QueryFailed(FlowError):
    """The statement cannot be run; the detail holds no values."""

    code = "query-failed"
    title = "The SQL statement failed"
    java = (
        "java.sql.SQLException",
        "org.springframework.dao.DataAccessException",
        "org.apache.camel.RuntimeExchangeException",
        "java.lang.RuntimeException",
    )


class Parameter(msgspec.Struct, frozen=True):
    """name: looked up in body and headers; empty when `template` is evaluated, or the place alone counts.

    many: each element of the value is a parameter, for IN.
    """

    name: str = ""
    template: SimpleTemplate | None = None
    many: bool = False


class BoundQuery(msgspec.Struct, frozen=True):
    """A statement for `sqlalchemy.text`, and the values of its parameters."""

    text: str
    values: Mapping[str, Any]


class SqlQuery:
    """A statement. Values only ever reach the database beside it, never in its text."""

    takes_variables = True

    def __init__(self, source: str, parts: Sequence[str | Parameter]) -> None:
        self._source = source
        self._parts = tuple(parts)

    @classmethod
    def parse(cls, source: str) -> Self:
        """Raises ValueError for an expression that is not known, or for a statement that cannot be read here."""
        if source.startswith(("classpath:", "file:", "resource:", "ref:")):
            raise ValueError("must be the statement itself; statements in resources are known to the engine Camel only")
        if "{{" in source:
            raise ValueError("must not hold variables: hand values over as parameters like `:#name`")
        parts: list[str | Parameter] = []
        position = 0
        for match in _PARTS.finditer(source):
            if match["kept"] is not None:
                continue
            parts.append(source[position : match.start()])
            parts.append(_parameter(match))
            position = match.end()
        parts.append(source[position:])
        return cls(source, parts)

    def __str__(self) -> str:
        return self._source

    async def bind(self, body: object, exchange: Exchange, flow: FlowContext, separator: str = ",") -> BoundQuery:
        """The statement with its values. body: the exchange's, or the one of a batch. Raises QueryFailed."""
        places = _places(body, sum(part == Parameter() for part in self._parts), separator)
        text: list[str] = []
        values: dict[str, Any] = {}
        for part in self._parts:
            if isinstance(part, str):
                text.append(part.replace("\\", "\\\\").replace(":", "\\:"))
                continue
            found = [places.pop(0)] if part == Parameter() else await self._values(part, body, exchange, flow)
            names = [f"p{len(values) + index}" for index in range(len(found))]
            values |= zip(names, found, strict=True)
            text.append(", ".join(f":{name}" for name in names))
        return BoundQuery("".join(text), values)

    async def _values(self, parameter: Parameter, body: object, exchange: Exchange, flow: FlowContext) -> list[Any]:
        value = await self._value(parameter, body, exchange, flow)
        if not parameter.many:
            return [value]
        items = _listed(value, ",")
        if not items:
            raise QueryFailed(f"parameter 'in:{parameter.name}' has no values")
        return items

    async def _value(self, parameter: Parameter, body: object, exchange: Exchange, flow: FlowContext) -> object:
        if parameter.template is not None:
            return await _evaluated(parameter.template, body, exchange, flow)
        if isinstance(body, Mapping) and parameter.name in body:
            return body[parameter.name]
        if parameter.name in exchange.headers:
            return exchange.headers[parameter.name]
        raise QueryFailed(
            f"Cannot find key [{parameter.name}] in message body or headers to use when setting named parameter "
            f"in query [{self._source}]"
        )


def _parameter(match: re.Match[str]) -> Parameter:
    if match["place"] is not None:
        return Parameter()
    many = match["many"] is not None
    if match["name"] is not None:
        return Parameter(match["name"], many=many)
    return Parameter(template=SimpleTemplate.parse(f"${{{match['function']}}}"), many=many)


async def _evaluated(template: SimpleTemplate, body: object, exchange: Exchange, flow: FlowContext) -> object:
    """The template's value for the exchange with this body."""
    before, exchange.body = exchange.body, body
    try:
        return await template.evaluate(exchange, flow)
    finally:
        exchange.body = before


def _places(body: object, expected: int, separator: str) -> list[Any]:
    """The values for `#`, in order. Raises QueryFailed when there are more or fewer of them."""
    if not expected:
        return []
    values = [body] if expected == 1 and isinstance(body, str) else _listed(body, separator)
    if len(values) != expected:
        raise QueryFailed(f"Number of parameters mismatch. Expected: {expected}, was: {len(values)}")
    return values


def _listed(value: object, separator: str) -> list[Any]:
    """The elements of a value; a text is split, with quotes kept together."""
    match value:
        case None:
            return []
        case str():
            pieces = re.findall(rf"(?:\"[^\"]*\"|'[^']*'|[^{re.escape(separator)}])+", value)
            return [piece.strip().strip("\"'") for piece in pieces]
        case Mapping():
            return list(value.values())
        case list() | tuple() | set():
            return list(value)
    return [value]
