"""Texts with functions in them."""

import re
from typing import TYPE_CHECKING, Self

import msgspec

from penstock.flow.conversion import NotConvertible, number, whole
from penstock.flow.exchange import Exchange
from penstock.flow.family import Family
from penstock.flow.parsing.problem import Unknown, UnknownName
from penstock.flow.simple.functions import Read, function
from penstock.flow.simple.scanning import outside, pieces
from penstock.flow.text import Text
from penstock.flow.values import shown, text_of

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "}": "}"}
_ESCAPE = re.compile(r"\\([ntr}])")
_UNARY = re.compile(r"(\+\+|--)(?= |$)")
_OPERATOR = re.compile(r" (~>|\?~>|\?:) ", re.DOTALL)


class Function(msgspec.Struct, frozen=True):
    """One `${...}`. source: what stands between the braces. step: what is added to its value by `++` or `--`."""

    source: str
    read: Read
    step: int = 0

    @classmethod
    def parse(cls, source: str, step: int = 0) -> Self:
        """Raises ValueError, naming the construct, for what is not known."""
        return cls(source, _read(source), step)

    def value(self, exchange: Exchange, flow: "FlowContext") -> object:
        value = self.read(exchange, flow)
        return _stepped(value, self.step) if self.step else value


class SimpleTemplate(msgspec.Struct, frozen=True):
    """Plain texts and functions in order."""

    parts: tuple[Text | Function, ...]
    source: str

    takes_variables = True

    @classmethod
    def parse(cls, source: str) -> Self:
        """Raises ValueError, naming the construct, for what is not known."""
        found = list(pieces(source))
        parts: list[Text | Function] = []
        for place, (is_function, text) in enumerate(found):
            after = found[place + 1] if place + 1 < len(found) else (True, "")
            unary = None if after[0] else _UNARY.match(after[1])
            if is_function:
                step = 0 if unary is None else 1 if unary[0] == "++" else -1
                parts.append(Function.parse(text, step))
            else:
                parts += _plain(text, after_function=bool(parts))
        return cls(tuple(parts), source)

    async def evaluate(self, exchange: Exchange, flow: "FlowContext") -> object:
        """The value: of the function when it stands alone, else a text."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Function):
            return self.parts[0].value(exchange, flow)
        return await self.evaluate_text(exchange, flow)

    async def evaluate_text(self, exchange: Exchange, flow: "FlowContext") -> str:
        texts = [
            text_of(part.value(exchange, flow)) if isinstance(part, Function) else await part.resolve(flow.variables)
            for part in self.parts
        ]
        return "".join(texts)


class DynamicText(SimpleTemplate, frozen=True):
    """A template where Camel reads simple only if there is a function in it, and else takes the text as it is."""

    @classmethod
    def parse(cls, source: str) -> Self:
        if "${" in source or "$simple{" in source:
            return super().parse(source)
        return cls((Text.parse(source),), source)


def _plain(source: str, after_function: bool) -> list[Text | Function]:
    if after_function:
        source = _UNARY.sub("", source, count=1) if _UNARY.match(source) else source
        operator = _OPERATOR.search(source)
        if operator is not None:
            raise UnknownName(Unknown(Family.OPERATOR, operator[1]), f"operator '{operator[1]}' is not known here")
        if outside(source, " ? ") >= 0 and outside(source, " : ") >= 0:
            raise UnknownName(
                Unknown(Family.OPERATOR, "?"), "operator '?' is only known within a function: ${body == 1 ? 'a' : 'b'}"
            )
    return [Text.parse(_ESCAPE.sub(lambda match: _ESCAPES[match[1]], source))] if source else []


def _read(source: str) -> Read:
    question = outside(source, " ? ")
    colon = outside(source, " : ")
    if 0 <= question < colon:
        # Grammars refer to each other: a condition holds functions, this function a condition.
        from penstock.flow.simple.ternary import ternary

        return ternary(source[:question], source[question + 3 : colon], source[colon + 3 :])
    if "${" not in source:
        return function(source)
    inner = SimpleTemplate.parse(source)
    if any(isinstance(part, Text) and part.literal is None for part in inner.parts):
        raise ValueError("a variable cannot stand within a function")

    def read(exchange: Exchange, flow: "FlowContext") -> object:
        name = "".join(
            text_of(part.value(exchange, flow)) if isinstance(part, Function) else part.literal or ""
            for part in inner.parts
        )
        return function(name)(exchange, flow)

    return read


def _stepped(value: object, step: int) -> object:
    """The number with one added or taken away; as in Camel, what stands behind the point is lost."""
    if value is None:
        return None
    exact = whole(value)
    if exact is None:
        fraction = number(value)
        if fraction is None:
            raise NotConvertible(f"'{shown(value)[:100]}' is no number")
        exact = int(fraction)
    return float(exact + step) if isinstance(value, float) else exact + step
