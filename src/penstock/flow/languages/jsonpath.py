"""`jsonpath`: what a path leads to in JSON."""

import json
import re
from functools import lru_cache
from typing import Annotated, Any

from jsonpath_rfc9535 import JSONPathError, JSONPathQuery, compile
from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.conversion import converted
from penstock.flow.exchange import Exchange
from penstock.flow.failures.errors import FlowError
from penstock.flow.family import Family
from penstock.flow.language import Language, Use
from penstock.flow.parsing.problem import Unknown, UnknownName
from penstock.flow.result_type import ResultType
from penstock.flow.simple import DynamicText
from penstock.flow.value_source import ValueSource
from penstock.flow.values import text_of

_JAYWAY = re.compile(
    r"\.\w+\(\)\s*$|\s=~\s|\s(?:in|nin|subsetof|anyof|noneof|size|empty|contains)\s|^[^$@]*[<>=!]=?", re.ASCII
)
"""What only Jayway's dialect knows, which Camel uses: functions at the end, operators by name, easy predicates."""


class PathFailed(FlowError):
    """A path leads nowhere, or what it is to be followed in is not JSON."""

    code = "path-failed"
    title = "The JSON path leads nowhere"
    java = (
        "org.apache.camel.ExpressionEvaluationException",
        "com.jayway.jsonpath.PathNotFoundException",
        "org.apache.camel.RuntimeCamelException",
        "java.lang.RuntimeException",
    )


class JsonPath(Language, frozen=True, kw_only=True):
    """A path as in RFC 9535. One that can only lead to one place gives the value there, any other a list.

    The message may be a text in JSON, or maps and lists.
    """

    element = "jsonpath"

    expression: Annotated[DynamicText, Meta(description="The path, like `$.items[0].name`.")]
    suppress_exceptions: Annotated[bool, Meta(description="Gives null where the path leads nowhere.")] = False
    write_as_string: Annotated[bool, Meta(description="Gives maps and lists as JSON.")] = False
    unpack_array: Annotated[bool, Meta(description="Gives the entry of a list that has just one.")] = False
    result_type: Annotated[ResultType | None, Meta(description="Java's name of the type that the value gets.")] = None
    source: Annotated[ValueSource, Meta(description="Where to look instead of in the body, like `header:NAME`.")] = (
        ValueSource("body")
    )
    trim: Annotated[bool, Meta(description="Leaves out blanks at both ends of the path.")] = True

    def check(self, use: Use) -> None:
        literal = "".join(getattr(part, "literal", None) or "" for part in self.expression.parts)
        if literal == self.expression.source:
            _query(literal.strip())

    async def evaluate(self, exchange: Exchange, flow: FlowContext) -> object:
        path = (await self.expression.evaluate_text(exchange, flow)).strip()
        try:
            found = _look(path, _document(self.source.of(exchange)))
        except PathFailed:
            if not self.suppress_exceptions:
                raise
            return None
        if self.unpack_array and isinstance(found, list) and len(found) == 1:
            found = found[0]
        if self.write_as_string:
            found = _written(found)
        return converted(found, self.result_type) if self.result_type is not None else found


def _look(path: str, document: Any) -> object:
    query = _query(path)
    values = query.find(document).values()
    if not query.singular_query():
        return values
    if not values:
        raise PathFailed(f"the path '{path}' leads nowhere")
    value: object = values[0]
    return value


@lru_cache(maxsize=4096)
def _query(path: str) -> JSONPathQuery:
    """Raises ValueError for what is no path."""
    full = path if path.startswith("$") or _JAYWAY.search(path) else f"$.{path}"
    try:
        return compile(full)
    except (JSONPathError, RecursionError) as error:
        if _JAYWAY.search(path):
            message = f"path '{path}' is not one of RFC 9535, but may be one of Jayway's, which Camel knows"
            raise UnknownName(Unknown(Family.OPERATOR, path, "jsonpath"), message) from None
        raise ValueError(f"path '{path}' is not valid: {error}") from None


def _document(value: object) -> Any:
    """The JSON in a text or bytes; maps and lists as they are."""
    if not isinstance(value, str | bytes | bytearray):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise PathFailed(f"there is no JSON to follow a path in: {error}") from None


def _written(value: object) -> object:
    if isinstance(value, list):
        return [_written(entry) for entry in value]
    return (
        json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=text_of)
        if isinstance(value, dict)
        else value
    )
