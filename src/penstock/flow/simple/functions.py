"""The functions of the simple language: what stands between `${` and `}`."""

import random
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from penstock.flow.conversion import TYPES, NotConvertible, converted
from penstock.flow.exchange import Exchange
from penstock.flow.failures.error_handling import CAUGHT
from penstock.flow.family import Family
from penstock.flow.parsing.problem import Unknown, UnknownName
from penstock.flow.simple.dates import check_pattern, formatted, split_offset
from penstock.flow.simple.files import FILE_FUNCTIONS
from penstock.flow.simple.members import way
from penstock.flow.values import text_of
from penstock.kernel.ids import new_id

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext

Read = Callable[[Exchange, "FlowContext"], object]
"""The function's value for an exchange."""

_KNOWN = (
    "body, body[KEY], bodyAs(TYPE), mandatoryBodyAs(TYPE), bodyOneLine, header.NAME, headerAs(NAME,TYPE), headers, "
    "exchangeProperty.NAME, variable.NAME, exchangeId, routeId, fromRouteId, exception, exception.message, "
    "exception.stackTrace, date:now, date:now:PATTERN, date:header.NAME:PATTERN, date-with-timezone:now:ZONE:PATTERN, "
    "random(N), random(MIN,MAX), uuid, null, file:name, and `CONDITION ? A : B`"
)
_MEMBER = re.compile(
    r"(?P<of>(?:in\.)?headers?|exchangeProperty|variables?)"
    r"(?:[.:](?P<plain>[\w-]+)|\[(?P<quote>['\"]?)(?P<bracketed>[^\[\]'\"]+)(?P=quote)\])(?P<way>.*)",
    re.DOTALL,
)
_BODY = re.compile(r"(?:in\.)?body(?P<way>.*)", re.DOTALL)
_CALL = re.compile(r"(?P<name>\w+)\((?P<arguments>.*)\)", re.DOTALL)


@lru_cache(maxsize=4096)
def function(source: str) -> Read:
    """The function. Raises UnknownName when it is not known here, ValueError when it is wrong."""
    name = source.strip()
    return (
        _FIXED.get(name) or _member(name) or _body(name) or _call(name) or _date(name) or FILE_FUNCTIONS.get(name)
    ) or _refused(source)


def _refused(source: str) -> Read:
    name = source.strip()
    if name.startswith(("env", "sys")):
        reason = "is refused: what is outside the flow is given to it as a variable, as in {{var:NAME}}"
    else:
        reason = f"is not known (known: {_KNOWN})"
    raise UnknownName(Unknown(Family.FUNCTION, name), f"function '${{{source}}}' {reason}")


def _error(exchange: Exchange, _: "FlowContext") -> object:
    return exchange.properties.get(CAUGHT)


def _message(exchange: Exchange, _: "FlowContext") -> object:
    error = exchange.properties.get(CAUGHT)
    return str(error) if isinstance(error, BaseException) else None


def _trace(exchange: Exchange, flow: "FlowContext") -> object:
    error = exchange.properties.get(CAUGHT)
    return flow.trace_of(error) if isinstance(error, BaseException) else None


def _headers(exchange: Exchange, _: "FlowContext") -> object:
    return dict(sorted(exchange.headers.items(), key=lambda entry: entry[0].casefold()))


_FIXED: Mapping[str, Read] = {
    "exchangeId": lambda exchange, _: exchange.id,
    "id": lambda exchange, _: exchange.id,
    "routeId": lambda exchange, _: exchange.route,
    "fromRouteId": lambda exchange, _: exchange.came_from,
    "headers": _headers,
    "in.headers": _headers,
    "headers.size": lambda exchange, _: len(exchange.headers),
    "headers.size()": lambda exchange, _: len(exchange.headers),
    "variables": lambda exchange, _: dict(exchange.variables),
    "exception": _error,
    "exception.message": _message,
    "exception.stackTrace": _trace,
    "exception.stacktrace": _trace,
    "uuid": lambda exchange, _: str(new_id()),
    "null": lambda exchange, _: None,
    "bodyOneLine": lambda exchange, _: re.sub(r"[\r\n]", "", text_of(exchange.body)),
}


def _member(name: str) -> Read | None:
    match = _MEMBER.fullmatch(name)
    if match is None:
        return None
    key = match["plain"] or match["bracketed"]
    follow = way(match["way"])
    if follow is None:
        return None
    if match["of"] == "exchangeProperty":
        return lambda exchange, _: follow(exchange.properties.get(key))
    if match["of"].startswith("variable"):
        return lambda exchange, _: follow(exchange.variables.get(key))
    return lambda exchange, _: follow(exchange.headers.get(key))


def _body(name: str) -> Read | None:
    match = _BODY.fullmatch(name)
    if match is None:
        return None
    if not match["way"]:
        return lambda exchange, _: exchange.body
    follow = way(match["way"])
    return None if follow is None else lambda exchange, _: follow(exchange.body)


def _call(name: str) -> Read | None:
    match = _CALL.fullmatch(name)
    if match is None:
        return None
    arguments = [part.strip().strip("'\"") for part in match["arguments"].split(",")]
    make = _CALLS.get((match["name"], len(arguments)))
    return make(*arguments) if make is not None else None


def _body_as(kind: str) -> Read:
    _check_type(kind)
    return lambda exchange, _: converted(exchange.body, kind)


def _mandatory_body_as(kind: str) -> Read:
    _check_type(kind)

    def read(exchange: Exchange, _: "FlowContext") -> object:
        if exchange.body is None:
            raise NotConvertible(f"there is no body that could be {kind}")
        return converted(exchange.body, kind)

    return read


def _header_as(key: str, kind: str) -> Read:
    _check_type(kind)
    return lambda exchange, _: converted(exchange.headers.get(key), kind)


def _variable_as(key: str, kind: str) -> Read:
    _check_type(kind)
    return lambda exchange, _: converted(exchange.variables.get(key), kind)


def _check_type(kind: str) -> None:
    if kind not in TYPES:
        unknown = Unknown(Family.FUNCTION, f"as {kind}")
        raise UnknownName(unknown, f"type {Unknown(Family.FUNCTION, kind).sentence(TYPES)}")


def _random(first: str, second: str = "") -> Read:
    low, high = (first, second) if second else ("0", first)
    if not (low.strip("-").isdigit() and high.strip("-").isdigit()) or int(low) >= int(high):
        raise ValueError("random(MIN,MAX) needs two whole numbers, the second one greater")
    return lambda exchange, _: random.randrange(int(low), int(high))  # noqa: S311 - no secret is made of it


_CALLS: Mapping[tuple[str, int], Callable[..., Read]] = {
    ("bodyAs", 1): _body_as,
    ("mandatoryBodyAs", 1): _mandatory_body_as,
    ("headerAs", 2): _header_as,
    ("variableAs", 2): _variable_as,
    ("random", 1): _random,
    ("random", 2): _random,
}


def _date(name: str) -> Read | None:
    kind, _, rest = name.partition(":")
    if kind not in ("date", "date-with-timezone") or not rest:
        return None
    command, _, pattern = rest.partition(":")
    zone = None
    if kind == "date-with-timezone":
        zone_name, _, pattern = pattern.partition(":")
        zone = _zone(zone_name)
    start, offset = split_offset(command)
    moment = _moment(start)
    if moment is None:
        return None
    check_pattern(pattern)

    def read(exchange: Exchange, flow: "FlowContext") -> object:
        found = moment(exchange, flow)
        if found is None:
            return None
        local = (found + offset).astimezone(zone or flow.zone)
        if command == "millis":
            return int(local.timestamp() * 1000)
        return formatted(local, pattern) if pattern else local

    return read


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"time zone '{name}' is not known") from None


def _moment(command: str) -> Callable[[Exchange, "FlowContext"], datetime | None] | None:
    if command in ("now", "millis"):
        return lambda exchange, flow: flow.clock.now()
    if command == "exchangeCreated":
        return lambda exchange, flow: exchange.created
    member = _member(command)
    return None if member is None else lambda exchange, flow: _as_moment(member(exchange, flow))


def _as_moment(value: object) -> datetime | None:
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=value)
    raise NotConvertible(f"'{text_of(value)[:100]}' is no time: it must be one, or milliseconds since 1970")
