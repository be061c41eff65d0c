"""`${CONDITION ? A : B}`: one of two values."""

from typing import TYPE_CHECKING

from penstock.flow.exchange import Exchange
from penstock.flow.simple.comparison import OPERATORS
from penstock.flow.simple.functions import Read
from penstock.flow.simple.scanning import closing, outside
from penstock.flow.simple.template import Function

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext

_FIXED: dict[str, object] = {"true": True, "false": False, "null": None}


def ternary(condition: str, then: str, otherwise: str) -> Read:
    """Raises ValueError for what is not known."""
    holds, first, second = _condition(condition.strip()), _value(then.strip()), _value(otherwise.strip())
    return lambda exchange, flow: first(exchange, flow) if holds(exchange, flow) else second(exchange, flow)


def _condition(source: str) -> Read:
    for operator in sorted(OPERATORS, key=len, reverse=True):
        at = outside(source, f" {operator} ")
        if at >= 0:
            left, right = _value(source[:at].strip()), _value(source[at + len(operator) + 2 :].strip())
            compare = OPERATORS[operator]
            return lambda exchange, flow: compare(left(exchange, flow), right(exchange, flow))
    raise ValueError("needs an operator before ` ? `, as in ${body == 1 ? 'a' : 'b'}")


def _value(source: str) -> Read:
    """A literal, `${...}`, or the name of a function."""
    if source in _FIXED:
        fixed = _FIXED[source]
        return lambda exchange, flow: fixed
    if source[:1] in ("'", '"') and source[-1:] == source[:1] and len(source) > 1:
        return _text(source[1:-1])
    if source.removeprefix("-").replace(".", "", 1).isdigit():
        number = float(source) if "." in source else int(source)
        return lambda exchange, flow: number
    if source.startswith("${") and closing(source, 0) == len(source) - 1:
        source = source[2:-1]
    return Function.parse(source).read


def _text(source: str) -> Read:
    if "${" in source or "{{" in source:
        raise ValueError("a text within a function cannot hold functions or variables")

    def read(exchange: Exchange, flow: "FlowContext") -> object:
        return source

    return read
