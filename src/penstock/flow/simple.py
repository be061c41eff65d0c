"""The simple language: a text with functions in it, as far as this engine knows them.

Source of the rules: Apache Camel 4, Simple language. What Camel would read otherwise than as plain text and is
not known here is refused, so that a text never means two things.
"""

import re
from collections.abc import Callable
from typing import Self

import msgspec

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange, text_of
from penstock.flow.text import Text

Read = Callable[[Exchange], object]

_KNOWN = "body, header.NAME, header[NAME], exchangeProperty.NAME, exchangeProperty[NAME], exchangeId, routeId"
_MEMBER = re.compile(
    r"(?P<of>(?:in\.)?headers?|exchangeProperty)"
    r"(?:[.:](?P<plain>[\w-]+)|\[(?P<quote>['\"]?)(?P<bracketed>[^\[\]'\"]+)(?P=quote)\])"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "}": "}"}
_ESCAPE = re.compile(r"\\([ntr}])")
_UNARY = re.compile(r"(\+\+|--)(?: |$)")
_OPERATOR = re.compile(r" (~>|\?~>|\?:) | (\?) .* : ", re.DOTALL)


class Function(msgspec.Struct, frozen=True):
    """One `${...}`. source: what stands between the braces."""

    source: str
    read: Read


class SimpleTemplate(msgspec.Struct, frozen=True):
    """Plain texts and functions in order."""

    parts: tuple[Text | Function, ...]
    source: str

    takes_variables = True

    @classmethod
    def parse(cls, source: str) -> Self:
        """Raises ValueError, naming the construct, for what is not known."""
        for start in ("$simple{", "$init{"):
            if start in source:
                raise ValueError(f"'{start}...}}' is not known: functions are written ${{...}}")
        parts: list[Text | Function] = []
        position = 0
        while (start_at := source.find("${", position)) >= 0:
            end = source.find("}", start_at)
            if end < 0:
                raise ValueError(f"function '{source[start_at : start_at + 20]}' has no closing brace")
            parts += _plain(source[position:start_at], after_function=bool(parts))
            parts.append(_function(source[start_at + 2 : end]))
            position = end + 1
        parts += _plain(source[position:], after_function=bool(parts))
        return cls(tuple(parts), source)

    def trimmed(self) -> "SimpleTemplate":
        stripped = self.source.strip()
        return self if stripped == self.source else SimpleTemplate.parse(stripped)

    async def evaluate(self, exchange: Exchange, flow: FlowContext) -> object:
        """The value: of the function when it stands alone, else a text."""
        if len(self.parts) == 1 and isinstance(self.parts[0], Function):
            return self.parts[0].read(exchange)
        return await self.evaluate_text(exchange, flow)

    async def evaluate_text(self, exchange: Exchange, flow: FlowContext) -> str:
        texts = [
            text_of(part.read(exchange)) if isinstance(part, Function) else await part.resolve(flow.variables)
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
    if not source:
        return []
    operator = _OPERATOR.search(source) if after_function else None
    unary = _UNARY.match(source) if after_function else None
    found = unary or operator
    if found is not None:
        raise ValueError(f"operator '{next(group for group in found.groups() if group)}' is not known here")
    return [Text.parse(_ESCAPE.sub(lambda match: _ESCAPES[match[1]], source))]


def _function(source: str) -> Function:
    name = source.strip()
    if name in ("body", "in.body"):
        return Function(source, lambda exchange: exchange.body)
    if name == "exchangeId":
        return Function(source, lambda exchange: exchange.id)
    if name == "routeId":
        return Function(source, lambda exchange: exchange.route)
    member = _MEMBER.fullmatch(name)
    if member is None:
        raise ValueError(f"function '${{{source}}}' is not known (known: {_KNOWN})")
    key = member["plain"] or member["bracketed"]
    if member["of"] == "exchangeProperty":
        return Function(source, lambda exchange: exchange.properties.get(key))
    return Function(source, lambda exchange: exchange.headers.get(key))
