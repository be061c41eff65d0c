"""The smaller languages: header, exchangeProperty, variable, jsonpath, tokenize."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.eips.set_body import SetBody
from penstock.flow.languages.jsonpath import PathFailed
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.parsing.problem import InvalidFlow
from penstock.flow.parts import parts_of
from penstock.flow.values import is_true, text_of
from tests.unit.flow_message import flow_context, message

ORDER = '{"id": 7, "lines": [{"n": 1, "p": 2.5}, {"n": 2, "p": 9}], "none": null}'


def source(expression: str) -> str:
    return f"- from:\n    uri: timer:a\n    steps:\n    - setBody: {expression}\n"


async def value(expression: str, body: object = ORDER) -> object:
    flow = parse_flow("f", "1", source(expression))
    step = flow.routes[0].steps[0]
    assert isinstance(step, SetBody)
    exchange = message()
    exchange.body = body
    exchange.properties["p"] = 1
    exchange.variables["v"] = 2
    return await step.expression.evaluate(exchange, flow_context())


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{header: num}", 7),
        ("{header: NAME}", "Ada"),
        ("{header: nobody}", None),
        ("{exchangeProperty: p}", 1),
        ("{variable: v}", 2),
        ("{jsonpath: $.id}", 7),
        ("{jsonpath: $.lines}", [{"n": 1, "p": 2.5}, {"n": 2, "p": 9}]),
        ("{jsonpath: '$.lines[*].n'}", [1, 2]),
        ("{jsonpath: '$..n'}", [1, 2]),
        ("{jsonpath: '$.lines[?(@.p > 5)].n'}", [2]),
        ("{jsonpath: '$.lines[?(@.p > ${header.num})].n'}", [2]),
        ("{jsonpath: {expression: '$.lines[?(@.n == 1)].p', unpackArray: true}}", 2.5),
        ("{jsonpath: {expression: $.absent, suppressExceptions: true}}", None),
        ("{jsonpath: {expression: '$.lines[0]', writeAsString: true}}", '{"n":1,"p":2.5}'),
        ("{jsonpath: {expression: $.id, resultType: java.lang.String}}", "7"),
        ("{jsonpath: id}", 7),
        ("{jsonpath: $.none}", None),
    ],
)
async def test_an_expression_gives_its_value(expression: str, expected: object) -> None:
    assert await value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "body", "expected"),
    [
        ("{tokenize: ','}", "a,b,,c,", ["a", "b", "", "c"]),
        ("{tokenize: '\\n'}", "a\nb", ["a", "b"]),
        ("{tokenize: {token: '[;,]', regex: true}}", "a;b,c", ["a", "b", "c"]),
        ("{tokenize: {token: ',', group: 2}}", "a,b,c", ["a,b", "c"]),
        ("{tokenize: {token: ',', skipFirst: true}}", "a,b,c", ["b", "c"]),
        ("{tokenize: {token: 'd', source: 'header:name'}}", "", ["A", "a"]),
        ("{tokenize: ','}", None, []),
    ],
)
async def test_tokenize_gives_what_stands_between(expression: str, body: object, expected: list[str]) -> None:
    assert await value(expression, body) == expected


@pytest.mark.parametrize(("path", "body"), [("$.absent", ORDER), ("$.id", "no json"), ("$.lines[5]", ORDER)])
async def test_a_path_that_leads_nowhere_is_an_error(path: str, body: str) -> None:
    with pytest.raises(PathFailed):
        await value(f"{{jsonpath: '{path}'}}", body)


@pytest.mark.parametrize(
    ("path", "camel_may_know"),
    [("$.lines.length()", True), ("$.lines[?(@.n =~ /1/)]", True), ("id < 5", True), ("$.[", False), ("$[", False)],
)
def test_a_path_that_only_jayway_knows_is_told_apart_from_one_that_is_wrong(path: str, camel_may_know: bool) -> None:
    with pytest.raises(InvalidFlow) as refused:
        parse_flow("f", "1", source(f"{{jsonpath: '{path}'}}"))
    assert (refused.value.problems[0].unknown is not None) is camel_may_know


@given(st.lists(st.text(alphabet="abc ", min_size=1, max_size=3), max_size=6))
def test_the_parts_of_a_text_are_what_was_joined(parts: list[str]) -> None:
    assert list(parts_of(",".join(parts))) == parts


@pytest.mark.parametrize(
    ("value", "text", "holds"),
    [
        (None, "", False), (True, "true", True), (False, "false", False), (0, "0", True), ("", "", False),
        ("False", "False", False), ("x", "x", True), ([], "[]", False), ([None, 1.0], "[null, 1.0]", True),
        ({"a": {"b": 1}}, "{a={b=1}}", True), (1e10, "1.0E10", True), (1.5e-5, "1.5E-5", True),
        (12345678.9, "1.23456789E7", True),
        (float("inf"), "Infinity", True), (ValueError("no"), "java.lang.IllegalArgumentException: no", True),
    ],
)  # fmt: skip
def test_values_read_and_count_as_they_do_in_java(value: object, text: str, holds: bool) -> None:
    assert text_of(value) == text
    assert is_true(value) is holds


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_are_written_so_that_they_can_be_read_again(number: float) -> None:
    assert float(text_of(number)) == number
