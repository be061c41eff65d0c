"""`simple`: a text with functions in it."""

from functools import lru_cache
from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.conversion import converted
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language, Use
from penstock.flow.result_type import ResultType
from penstock.flow.simple import SimplePredicate, SimpleTemplate
from penstock.flow.source_text import SourceText


class Simple(Language, frozen=True, kw_only=True):
    """A text with functions like `${body}`; a function alone keeps the type of its value.

    As a condition: comparisons like `${header.total} > 100`, with `&&` and `||` between them.
    """

    element = "simple"

    expression: Annotated[SourceText, Meta(description="The text with its functions, or the condition.")]
    trim: Annotated[bool, Meta(description="Leaves out blanks at both ends.")] = True
    result_type: Annotated[ResultType | None, Meta(description="Java's name of the type that the value gets.")] = None

    def check(self, use: Use) -> None:
        if use is Use.CONDITION:
            _predicate(self._source)
        else:
            _template(self._source)

    async def evaluate(self, exchange: Exchange, flow: FlowContext) -> object:
        value = await _template(self._source).evaluate(exchange, flow)
        return converted(value, self.result_type) if self.result_type is not None else value

    async def matches(self, exchange: Exchange, flow: FlowContext) -> bool:
        return await _predicate(self._source).matches(exchange, flow)

    @property
    def _source(self) -> str:
        return self.expression.strip() if self.trim else str(self.expression)


_template = lru_cache(maxsize=4096)(SimpleTemplate.parse)
_predicate = lru_cache(maxsize=4096)(SimplePredicate.parse)
