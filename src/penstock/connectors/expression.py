"""Filter expressions: comparisons as in the CloudEvents SQL Expression Language 1.0, and paths into the data.

    type LIKE 'com.example.%' AND (data.amount > 100 OR priority IN ('high', 'urgent')) AND EXISTS subject

Left out of the language: functions. Added: `data.name.name`, decimal numbers. As in SQL, AND binds closer than OR
and XOR, and NOT closer than AND but looser than comparisons.
"""

import operator
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from penstock.connectors.expression_tokens import Kind, Token, tokens_of
from penstock.protocol.cloudevent import CloudEvent

Value = str | int | float | bool
Evaluate = Callable[[Mapping[str, Any]], Value]

_DEEPEST = 50


class Missing(Exception):
    """What a comparison needs is not there, or is of no type that the operator takes."""


class Expression:
    """An expression, parsed once."""

    def __init__(self, text: str) -> None:
        """Raises ValueError with what is wrong and where."""
        self._evaluate = _Parser(tokens_of(text)).parse()

    def holds(self, event: CloudEvent) -> bool:
        """Whether it is true for the event. A comparison with what the event does not have is false."""
        return _truth(self._evaluate)(event.value())


_COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: Mapping[str, Callable[[Any, Any], Any]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "%": operator.mod,
}
# From the loosest to the tightest.
_LOGIC = (("OR", "XOR"), ("AND",))
_SUMS = (("+", "-"), ("*", "/", "%"))


class _Parser:
    """Recursive descent; every method answers a function that evaluates what it read."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    def parse(self) -> Evaluate:
        evaluate = self._logic(0)
        if self._peek.kind is not Kind.END:
            raise self._unexpected("an operator")
        return evaluate

    @property
    def _peek(self) -> Token:
        return self._tokens[self._next]

    def _take(self, *words: str) -> str | None:
        """The next token when it is one of these words."""
        token = self._peek
        if token.kind is Kind.WORD and token.value in words:
            self._next += 1
            return str(token.value)
        return None

    def _expect(self, word: str) -> None:
        if self._take(word) is None:
            raise self._unexpected(f"'{word}'")

    def _unexpected(self, wanted: str) -> ValueError:
        return ValueError(f"expected {wanted} at {self._peek.at}, not '{self._peek.value}'")

    def _logic(self, level: int) -> Evaluate:
        if level == len(_LOGIC):
            return self._negation()
        left = self._logic(level + 1)
        while word := self._take(*_LOGIC[level]):
            left = _logical(word, left, self._logic(level + 1))
        return left

    def _negation(self) -> Evaluate:
        with self._deeper():
            return _negated(self._negation()) if self._take("NOT") else self._comparison()

    def _comparison(self) -> Evaluate:
        left = self._sum(0)
        while True:
            if word := self._take(*_COMPARISONS):
                left = _compared(_COMPARISONS[word], left, self._sum(0))
            elif self._take("NOT"):
                left = _negated(self._membership(left, self._take("LIKE", "IN")))
            elif word := self._take("LIKE", "IN"):
                left = self._membership(left, word)
            else:
                return left

    def _membership(self, left: Evaluate, word: str | None) -> Evaluate:
        if word == "LIKE":
            return _like(left, self._pattern())
        if word == "IN":
            return _in(left, self._set())
        raise self._unexpected("LIKE or IN")

    def _pattern(self) -> re.Pattern[str]:
        token = self._peek
        if token.kind is not Kind.LITERAL or not isinstance(token.value, str):
            raise self._unexpected("a text")
        self._next += 1
        return re.compile("".join({"%": ".*", "_": "."}.get(c, re.escape(c)) for c in token.value), re.DOTALL)

    def _set(self) -> list[Evaluate]:
        self._expect("(")
        members = [self._logic(0)]
        while self._take(","):
            members.append(self._logic(0))
        self._expect(")")
        return members

    def _sum(self, level: int) -> Evaluate:
        if level == len(_SUMS):
            return self._unary()
        left = self._sum(level + 1)
        while word := self._take(*_SUMS[level]):
            left = _calculated(_ARITHMETIC[word], left, self._sum(level + 1))
        return left

    def _unary(self) -> Evaluate:
        if not self._take("-"):
            return self._operand()
        with self._deeper():
            operand = self._unary()
        return lambda event: -_number(operand(event))

    def _operand(self) -> Evaluate:
        if self._take("("):
            inner = self._logic(0)
            self._expect(")")
            return inner
        if self._take("EXISTS"):
            return _exists(self._name())
        token = self._peek
        if token.kind is Kind.LITERAL:
            self._next += 1
            return lambda event: token.value
        return _attribute(self._name())

    @contextmanager
    def _deeper(self) -> Iterator[None]:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError(f"is nested more than {_DEEPEST} deep")
        yield
        self._depth -= 1

    def _name(self) -> list[str]:
        token = self._peek
        if token.kind is not Kind.NAME:
            raise self._unexpected("an attribute or a value")
        self._next += 1
        path = str(token.value).split(".")
        if len(path) > 1 and path[0] != "data":
            raise ValueError(f"'{token.value}' at {token.at}: only data has members")
        return path if path[0] == "data" else [path[0].lower()]


def _attribute(path: list[str]) -> Evaluate:
    def evaluate(event: Mapping[str, Any]) -> Value:
        found = _found(event, path)
        if not isinstance(found, str | int | float | bool):
            raise Missing
        return found

    return evaluate


def _exists(path: list[str]) -> Evaluate:
    return lambda event: _found(event, path) is not None


def _found(event: Mapping[str, Any], path: list[str]) -> Any:
    value: Any = event
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _logical(word: str, left: Evaluate, right: Evaluate) -> Evaluate:
    one, other = _truth(left), _truth(right)
    if word == "AND":
        return lambda event: one(event) and other(event)
    if word == "OR":
        return lambda event: one(event) or other(event)
    return lambda event: one(event) != other(event)


def _negated(operand: Evaluate) -> Evaluate:
    truth = _truth(operand)
    return lambda event: not truth(event)


def _truth(operand: Evaluate) -> Callable[[Mapping[str, Any]], bool]:
    """The operand as true or false; what cannot be evaluated is false."""

    def evaluate(event: Mapping[str, Any]) -> bool:
        try:
            return _boolean(operand(event))
        except Missing:
            return False

    return evaluate


def _compared(compare: Callable[[Any, Any], bool], left: Evaluate, right: Evaluate) -> Evaluate:
    return lambda event: compare(*_comparable(left(event), right(event)))


def _calculated(calculate: Callable[[Any, Any], Any], left: Evaluate, right: Evaluate) -> Evaluate:
    def evaluate(event: Mapping[str, Any]) -> Value:
        try:
            result: Value = calculate(_number(left(event)), _number(right(event)))
        except (ZeroDivisionError, OverflowError):
            raise Missing from None
        return result

    return evaluate


def _like(operand: Evaluate, pattern: re.Pattern[str]) -> Evaluate:
    return lambda event: pattern.fullmatch(_text(operand(event))) is not None


def _in(operand: Evaluate, members: list[Evaluate]) -> Evaluate:
    def evaluate(event: Mapping[str, Any]) -> bool:
        value = operand(event)
        return any(operator.eq(*_comparable(value, member(event))) for member in members)

    return evaluate


def _comparable(left: Value, right: Value) -> tuple[Value, Value]:
    """Both as one type: the type of one of them, if the other can be cast to it."""
    if type(left) is type(right):
        return left, right
    if isinstance(left, bool) or isinstance(right, bool):
        return _boolean(left), _boolean(right)
    return _number(left), _number(right)


def _boolean(value: Value) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    raise Missing


def _number(value: Value) -> int | float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    try:
        return int(value) if isinstance(value, str) and "." not in value else float(str(value))
    except ValueError:
        raise Missing from None


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
