"""Functions of the simple language; the answers are those of Apache Camel 4.18."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.failures.errors import FlowError
from penstock.flow.simple import SimpleTemplate
from penstock.flow.simple.dates import check_pattern, formatted
from tests.unit.flow_message import NOON, flow_context, message


async def value(source: str) -> object:
    return await SimpleTemplate.parse(source).evaluate(message(), flow_context())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("${body[m][k]}", "v"),
        ("${body[list][0]}", "a"),
        ("${body[list][last]}", 3),
        ("${body[list][last-1]}", "b"),
        ("${body[list]?[7]}", None),
        ("${body[absent]}", None),
        ("${body?[absent]?[x]}", None),
        ("${body.size()}", 4),
        ("${header.name.length()}", 3),
        ("${header.missing.length()}", None),
        ("${headerAs(n,Integer)}", 5),
        ("${bodyAs(String)}", "{name=Ada, list=[a, b, 3], m={k=v}, nothing=null}"),
        ("${header.num}++", 8),
        ("${header.f}++", 3.0),
        ("${header.n > 3 ? 'yes' : 'no'}", "yes"),
        ("${header.name == 'Ada' ? ${header.num} : null}", 7),
        ("<${null}>", "<>"),
        ("${header.${header.key}}", "Ada"),
        ("${date:now:yyyy-MM-dd'T'HH:mm:ss.SSS}", "2026-03-01T12:05:07.250"),
        ("${date:now-24h:yyyyMMdd}", "20260228"),
        ("${date:header.at:yy/M/d EEE EEEE MMM MMMM}", "26/3/1 Sun Sunday Mar March"),
        ("${date-with-timezone:now:Europe/Berlin:HH z}", "13 CET"),
        ("${date:millis}", 1772366707250),
        ("${random(1)}", 0),
        ("${file:onlyname}", "orders.2026.csv"),
        ("${file:name.noext}", "in/orders"),
        ("${file:name.ext}", "2026.csv"),
        ("${file:name.ext.single}", "csv"),
        ("${fromRouteId}", "route-1"),
    ],
)
async def test_a_function_gives_its_value(source: str, expected: object) -> None:
    assert await value(source) == expected


@pytest.mark.parametrize(
    "source",
    [
        "${body[list][7]}",
        "${body[absent][x]}",
        "${header.num.length()}",
        "${headerAs(name,Integer)}",
        "${header.name}++",
    ],
)
async def test_what_a_value_does_not_have_is_an_error(source: str) -> None:
    with pytest.raises(FlowError):
        await value(source)


async def test_every_uuid_is_another() -> None:
    assert await value("${uuid}") != await value("${uuid}")


@pytest.mark.parametrize(
    "source",
    ["${random(x)}", "${random(5,1)}", "${date:now:b}", "${date-with-timezone:now:Mars:H}", "${a ? 'a' : 'b'}"],
)
def test_what_is_wrong_in_a_function_is_told(source: str) -> None:
    with pytest.raises(ValueError):
        SimpleTemplate.parse(source)


@given(st.integers(-1000, 1000), st.integers(1, 1000))
async def test_random_numbers_lie_between_their_bounds(low: int, width: int) -> None:
    found = await value(f"${{random({low},{low + width})}}")
    assert isinstance(found, int)
    assert low <= found < low + width


@given(st.text(alphabet="yMdHhmsSEa :-/.'", max_size=20))
def test_any_pattern_is_written_or_refused(pattern: str) -> None:
    try:
        check_pattern(pattern)
    except ValueError:
        return
    written = formatted(NOON, pattern)
    assert written or not re.sub("'", "", pattern)
