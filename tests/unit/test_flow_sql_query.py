"""Statements with parameters in Camel's form."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.exchange import Exchange
from penstock.flow.sql.sql_query import BoundQuery, QueryFailed, SqlQuery


async def bound(query: str, body: object = None, separator: str = ",", **headers: object) -> BoundQuery:
    exchange = Exchange("id", "route", datetime.now(UTC))
    exchange.body = body
    for name, value in headers.items():
        exchange.headers[name] = value
    return await SqlQuery.parse(query).bind(body, exchange, None, separator)  # type: ignore[arg-type]


async def test_names_are_looked_up_in_the_body_and_then_in_the_headers() -> None:
    query = await bound("select :#a, :#b", {"a": 1}, a=2, b=3)
    assert query == BoundQuery("select :p0, :p1", {"p0": 1, "p1": 3})


async def test_expressions_keep_the_type_of_their_value() -> None:
    assert (await bound("select :#${body}", 7)).values == {"p0": 7}


async def test_places_take_the_elements_of_the_body() -> None:
    assert (await bound("values (#, #)", ["a", 2])).values == {"p0": "a", "p1": 2}
    assert (await bound("values (#, #)", {"x": 1, "y": 2})).values == {"p0": 1, "p1": 2}
    assert (await bound("values (#, #)", "a;'b;c'", separator=";")).values == {"p0": "a", "p1": "b;c"}


async def test_a_text_is_the_value_of_a_single_place_whatever_is_in_it() -> None:
    assert (await bound("values (#)", "a, b")).values == {"p0": "a, b"}


async def test_more_or_fewer_values_than_places_fail() -> None:
    with pytest.raises(QueryFailed, match=r"Expected: 2, was: 3"):
        await bound("values (#, #)", [1, 2, 3])


async def test_a_list_for_in_is_as_many_parameters_as_it_has_elements() -> None:
    query = await bound("select 1 where a in (:#in:list) and b = :#b", {"list": [1, 2], "b": 3})
    assert query == BoundQuery("select 1 where a in (:p0, :p1) and b = :p2", {"p0": 1, "p1": 2, "p2": 3})


async def test_a_list_for_in_without_elements_fails() -> None:
    with pytest.raises(QueryFailed, match="'in:list' has no values"):
        await bound("select 1 where a in (:#in:list)", {"list": []})


@pytest.mark.parametrize(
    "text", ["'it''s :#a # and :b'", '"a # column"', "-- a :#comment #\n", "/* :#a # */", "1::integer", "'12:30'"]
)
async def test_texts_names_comments_and_casts_stay_as_they_are(text: str) -> None:
    query = await bound(f"select {text}, :#a", a=1)
    assert query.text.replace("\\:", ":") == f"select {text}, :p0"
    assert query.values == {"p0": 1}


@given(st.text(), st.text(min_size=1))
async def test_a_value_never_becomes_part_of_the_statement(value: str, other: str) -> None:
    query = await bound("select :#a, :#${body}, #", value, a=other)
    assert query.text == "select :p0, :p1, :p2"
    assert query.values == {"p0": other, "p1": value, "p2": value}


@pytest.mark.parametrize("source", ["classpath:a.sql", "file:a.sql", "select '{{var:A}}'", "select :#${nothing}"])
def test_statements_that_cannot_be_read_here_are_refused(source: str) -> None:
    with pytest.raises(ValueError, match=r"must|not known"):
        SqlQuery.parse(source)
