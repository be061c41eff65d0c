"""The simple language."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.commands.command import CommandRunner
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange, text_of
from penstock.flow.languages.constant import Constant
from penstock.flow.languages.simple import Simple
from penstock.flow.simple import DynamicText, SimpleTemplate
from penstock.flow.source_text import SourceText
from penstock.flow.text import Text
from penstock.flow.variables import Variable, Variables
from penstock.kernel.clock import ManualClock
from tests.unit.flow_listener import RememberingListener

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


async def resolve(name: str) -> Variable:
    return Variable(f"value of {name} ${{body}}")


@pytest.fixture
def flow() -> FlowContext:
    return FlowContext("f", "1", ManualClock(NOON), RememberingListener(), Variables(resolve), CommandRunner({}))


@pytest.fixture
def exchange() -> Exchange:
    exchange = Exchange("exchange-1", "route-1", NOON)
    exchange.body = {"a": 1}
    exchange.headers["Name"] = "Ada"
    exchange.headers["file.name"] = "a.txt"
    exchange.properties["count"] = 3
    return exchange


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("${header.name}", "Ada"),
        ("${headers.NAME} ${in.header.name}", "Ada Ada"),
        ("${header[file.name]}${header['file.name']}", "a.txta.txt"),
        ("<${header.nobody}>", "<>"),
        ("${exchangeProperty.count} of ${exchangeProperty[count]}", "3 of 3"),
        ("${exchangeId} in ${ routeId }", "exchange-1 in route-1"),
        (r"a\tb\nc \} \x", "a\tb\nc } \\x"),
        ("{{var:X}}", "value of X ${body}"),
        ("a ? b : c", "a ? b : c"),
        ("$5 {x}", "$5 {x}"),
    ],
)
async def test_functions_are_replaced_by_their_values(
    source: str, expected: str, exchange: Exchange, flow: FlowContext
) -> None:
    assert await SimpleTemplate.parse(source).evaluate_text(exchange, flow) == expected


async def test_a_function_alone_keeps_the_type_of_its_value(exchange: Exchange, flow: FlowContext) -> None:
    assert await SimpleTemplate.parse("${body}").evaluate(exchange, flow) == {"a": 1}
    assert await SimpleTemplate.parse("${header.nobody}").evaluate(exchange, flow) is None


@pytest.mark.parametrize(
    ("source", "construct"),
    [
        ("${date:tomorrow:yyyy}", "${date:tomorrow:yyyy}"),
        ("${bean:a}", "${bean:a}"),
        ("${body.name}", "${body.name}"),
        ("${env.HOME}", "${env.HOME}"),
        ("${sys.user}", "${sys.user}"),
        ("${header.a.b}", "${header.a.b}"),
        ("${header.${env.A}}", "${env.A}"),
        ("${}", "${}"),
        ("${body", "${body"),
        ("$simple{body}", "$simple{"),
        ("$init{ x := 1 }init$", "$init{"),
        ("${body} ~> ${header.n}", "~>"),
        ("${body} ?: 'none'", "?:"),
        ("${header.n} > 1 ? 'a' : 'b'", "?"),
    ],
)
def test_what_is_not_known_is_refused_by_name(source: str, construct: str) -> None:
    with pytest.raises(ValueError) as refused:
        SimpleTemplate.parse(source)
    assert f"'{construct}" in str(refused.value)


async def test_a_line_to_log_without_functions_is_taken_as_it_is(exchange: Exchange, flow: FlowContext) -> None:
    assert await DynamicText.parse(r"C:\new {{var:X}}").evaluate_text(exchange, flow) == r"C:\new value of X ${body}"
    assert await DynamicText.parse(r"${header.name}\tC").evaluate_text(exchange, flow) == "Ada\tC"


@given(st.text(alphabet="${}[].:'\\ abody?+~>", max_size=30))
def test_any_text_is_a_template_or_a_value_error(source: str) -> None:
    with suppress(ValueError):
        assert SimpleTemplate.parse(source).source == source


async def test_blanks_at_the_ends_are_left_out_unless_told_otherwise(exchange: Exchange, flow: FlowContext) -> None:
    template, text = SourceText(" ${header.name} "), Text.parse(" Ada ")
    assert await Simple(expression=template).evaluate(exchange, flow) == "Ada"
    assert await Simple(expression=template, trim=False).evaluate(exchange, flow) == " Ada "
    assert await Constant(expression=text).evaluate(exchange, flow) == "Ada"
    assert await Constant(expression=text, trim=False).evaluate(exchange, flow) == " Ada "


async def test_a_constant_does_not_know_functions(exchange: Exchange, flow: FlowContext) -> None:
    assert await Constant(expression=Text.parse("${body}")).evaluate(exchange, flow) == "${body}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), ("a", "a"), (True, "true"), (False, "false"), (5, "5"), (b"\xc3\xa4\xff", "ä\ufffd")],
)
def test_values_as_texts(value: object, text: str) -> None:
    assert text_of(value) == text


def test_headers_are_found_without_case_and_keep_their_first_spelling(exchange: Exchange) -> None:
    exchange.headers["NAME"] = "Grace"
    assert exchange.headers["name"] == "Grace"
    assert list(exchange.headers) == ["Name", "file.name"]
    del exchange.headers["nAmE"]
    assert "Name" not in exchange.headers
    assert len(exchange.headers) == 1
