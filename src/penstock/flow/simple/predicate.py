"""Conditions: functions and literals with operators between them.

    condition  = comparison (("&&" | "||") comparison)*      from left to right, neither goes before the other
    comparison = operand (operator operand)?
    operand    = function ("++" | "--")? | 'text' | "text" | number | true | false | null

Operators have blanks on both sides. A number, as Camel has it, stands only to the right of an operator.
"""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import msgspec

from penstock.flow.exchange import Exchange
from penstock.flow.family import Family
from penstock.flow.parsing.problem import Unknown, UnknownName
from penstock.flow.simple.comparison import OPERATORS, kind_of
from penstock.flow.simple.scanning import closing
from penstock.flow.simple.template import Function, SimpleTemplate
from penstock.flow.values import is_true

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext

_OPERATORS = sorted(OPERATORS, key=len, reverse=True)
_LITERALS: dict[str, object] = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?=\s|$)", re.ASCII)
_WORD = re.compile(r"\S+")
_UNARY = {"++": 1, "--": -1}
_RANGE = re.compile(r"-?\d+\.\.-?\d+", re.ASCII)


class Operand(msgspec.Struct, frozen=True):
    """A function, a text with functions, or a fixed value."""

    function: Function | None = None
    text: SimpleTemplate | None = None
    fixed: object = None

    async def value(self, exchange: Exchange, flow: "FlowContext") -> object:
        if self.function is not None:
            return self.function.value(exchange, flow)
        if self.text is not None:
            return await self.text.evaluate_text(exchange, flow)
        return self.fixed

    @property
    def literal(self) -> str | None:
        """The text when it is one without functions and variables."""
        if self.text is None or any(isinstance(part, Function) for part in self.text.parts):
            return None
        texts = [part.literal for part in self.text.parts if not isinstance(part, Function)]
        return None if None in texts else "".join(text or "" for text in texts)


class Comparison(msgspec.Struct, frozen=True):
    """One operand that is true, or two with an operator between them."""

    left: Operand
    operator: str = ""
    right: Operand = Operand()

    async def matches(self, exchange: Exchange, flow: "FlowContext") -> bool:
        left = await self.left.value(exchange, flow)
        if not self.operator:
            return is_true(left)
        return OPERATORS[self.operator](left, await self.right.value(exchange, flow))


class SimplePredicate(msgspec.Struct, frozen=True):
    """Comparisons, and between them whether both (`&&`) or one (`||`) must hold."""

    comparisons: tuple[Comparison, ...]
    links: tuple[str, ...]

    @classmethod
    def parse(cls, source: str) -> Self:
        """Raises ValueError, naming the construct, for what is not known."""
        reader = _Reader(source)
        comparisons, links = [reader.comparison()], []
        while link := reader.take(("&&", "||")):
            links.append(link)
            comparisons.append(reader.comparison())
        reader.end()
        return cls(tuple(comparisons), tuple(links))

    async def matches(self, exchange: Exchange, flow: "FlowContext") -> bool:
        holds = await self.comparisons[0].matches(exchange, flow)
        for link, comparison in zip(self.links, self.comparisons[1:], strict=True):
            if holds is (link == "&&"):  # else the answer does not depend on it
                holds = await comparison.matches(exchange, flow)
        return holds


class _Reader:
    def __init__(self, source: str) -> None:
        self._source = source
        self._at = 0
        self._skip()

    def comparison(self) -> Comparison:
        left = self._operand(numbers=False)
        operator = self.take(_OPERATORS)
        if not operator:
            return Comparison(left)
        right = self._operand(numbers=True)
        _check(operator, right)
        return Comparison(left, operator, right)

    def take(self, tokens: Sequence[str]) -> str:
        """The token that stands here, with blanks around it; empty when none of them does."""
        if not self._source[self._at - 1 : self._at].isspace():
            return ""
        for token in tokens:
            end = self._at + len(token)
            if self._source.startswith(token, self._at) and self._source[end : end + 1].isspace():
                self._at = end
                self._skip()
                return token
        return ""

    def end(self) -> None:
        if self._at == len(self._source):
            return
        word = self._word()
        if self._source[self._at - 1].isspace() or word[0] in "=!<>~&|?":
            known = ", ".join([*sorted(OPERATORS), "&&", "||"])
            unknown = Unknown(Family.OPERATOR, word)
            raise UnknownName(unknown, f"operator '{word}' is not known, or has no blanks around it (known: {known})")
        raise ValueError(f"'{word}' is not expected here")

    def _operand(self, numbers: bool) -> Operand:
        start = self._source[self._at : self._at + 1]
        if self._source.startswith("${", self._at):
            return self._function()
        if start and start in "'\"":
            return Operand(text=SimpleTemplate.parse(self._quoted(start)))
        if self._source.startswith(("$simple{", "$init{", "!"), self._at):
            word = self._word()
            raise UnknownName(Unknown(Family.OPERATOR, word), f"'{word}' is not known here")
        for word, value in _LITERALS.items():
            if self._take_word(word):
                return Operand(fixed=value)
        number = _NUMBER.match(self._source, self._at)
        if numbers and number is not None:
            self._at = number.end()
            self._skip()
            return Operand(fixed=float(number[0]) if "." in number[0] else int(number[0]))
        found = f"not '{self._word()}'" if start else "which is missing"
        raise ValueError(f"needs a function like ${{body}}, a 'text' or, to the right, a number, {found}")

    def _function(self) -> Operand:
        end = closing(self._source, self._at)
        source = self._source[self._at + 2 : end]
        self._at = end + 1
        step = _UNARY.get(self._source[self._at : self._at + 2], 0)
        if step and (self._source[self._at + 2 : self._at + 3] or " ").isspace():
            self._at += 2
        else:
            step = 0
        self._skip()
        return Operand(function=Function.parse(source, step))

    def _quoted(self, quote: str) -> str:
        at = self._at + 1
        while at < len(self._source) and self._source[at] != quote:
            at = closing(self._source, at) + 1 if self._source.startswith("${", at) else at + 1
        if at >= len(self._source):
            raise ValueError(f"has a quote without its counterpart: {self._source[self._at : self._at + 20]}")
        text = self._source[self._at + 1 : at]
        self._at = at + 1
        self._skip()
        return text

    def _take_word(self, word: str) -> bool:
        end = self._at + len(word)
        if not self._source.startswith(word, self._at) or not (self._source[end : end + 1] or " ").isspace():
            return False
        self._at = end
        self._skip()
        return True

    def _word(self) -> str:
        match = _WORD.match(self._source, self._at)
        return match[0] if match else ""

    def _skip(self) -> None:
        while self._source[self._at : self._at + 1].isspace():
            self._at += 1


def _check(operator: str, right: Operand) -> None:
    """Raises ValueError when a fixed text cannot stand to the right of the operator."""
    literal = right.literal
    if literal is None:
        return
    name = operator.removeprefix("!").removeprefix("not ")
    if name == "range" and not _RANGE.fullmatch(literal.strip()):
        raise ValueError("range needs numbers like '100..199'")
    if name == "is":
        kind_of(literal)
    if name == "regex":
        try:
            re.compile(literal)
        except re.error as error:
            raise ValueError(f"regex '{literal}' is not valid: {error}") from None
