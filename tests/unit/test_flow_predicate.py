"""Conditions in the simple language; the answers are those of Apache Camel 4.18."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.family import Family
from penstock.flow.parsing.problem import UnknownName
from penstock.flow.simple import SimplePredicate
from penstock.flow.simple.comparison import OPERATORS, equal
from tests.unit.flow_message import flow_context, message

HOLD = """
${header.n} == 5
${header.n} == '5'
${header.n} > 3
${header.n} >= '5'
${header.num} == '7'
${header.num} == 7.0
${header.num} > 6.5
${header.f} == 2.5
${header.f} == 2
${header.name} =~ 'ada'
${header.missing} == null
${header.missing} != 'x'
${header.empty} == ''
${header.name} contains 'd'
${header.name} ~~ 'D'
${header.name} !contains 'z'
${header.list} contains 'a'
${header.num} contains '7'
${header.list} ~~ 'A'
${header.num} > -5
${header.name} regex 'A.*'
${header.name} in 'Ada,Bob'
${header.num} in '6,7'
${header.num} range '5..9'
${header.n} range '5..9'
${header.name} startsWith 'A'
${header.name} starts with 'A'
${header.name} ends with 'a'
${header.name} is 'String'
${header.num} is 'Integer'
${header.num} is 'java.lang.Number'
${header.z} == '1'
${header.t} == 'true'
${header.t}
${header.name}
true
${header.n}++ == 6
${header.num}-- == 6
${header.n} == "${header.n}"
'${header.name} x' == 'Ada x'
${body[m][k]} == 'v'
${header.name} not in 'x,y'
${header.${header.key}} == 'Ada'
${header.name} == 'Ada' && ${header.n} == 5
${header.n} == 5 && ${header.name} == 'Bob' || ${header.num} == 7
'{{var:X}}' == 'value of X'
"""
FAIL = """
${header.n} > 10
${header.f} > 2
${header.name} == 'ada'
${header.missing} != null
${header.missing} > 3
${header.missing} == ''
${header.empty} == null
${header.name} contains 'D'
${header.list} contains '3'
${body} contains 'name'
${header.f} contains '.'
${header.missing} in 'x'
${header.missing} contains 'a'
${header.name} regex 'd'
${header.n} range '6..9'
${header.missing}
${header.empty}
false
${header.num} == 7 || ${header.n} == 5 && ${header.name} == 'Bob'
"""


@pytest.mark.parametrize("source", HOLD.strip().split("\n"))
async def test_a_condition_holds(source: str) -> None:
    assert await SimplePredicate.parse(source).matches(message(), flow_context())


@pytest.mark.parametrize("source", FAIL.strip().split("\n"))
async def test_a_condition_does_not_hold(source: str) -> None:
    assert not await SimplePredicate.parse(source).matches(message(), flow_context())


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("", "is missing"),
        ("10 > ${header.n}", "not '10'"),
        ("${body} ==", "operator '==' is not known, or has no blanks"),
        ("${body} == ", "which is missing"),
        ("${body}== 1", "operator '==' is not known, or has no blanks"),
        ("${body} === 1", "operator '===' is not known"),
        ("${body} == 'a", "quote without its counterpart"),
        ("${body} == 1 2", "operator '2' is not known"),
        ("${body} range '1'", "range needs numbers"),
        ("${body} range 5..9", "not '5..9'"),
        ("${body} is 'com.acme.Order'", "type 'com.acme.Order' is not known"),
        ("${body} is 'List'", "type 'List' is not known"),
        ("${body} regex '('", "is not valid"),
        ("!${body}", "'!${body}' is not known here"),
        ("body == 1", "not 'body'"),
        ("${body.name} == 1", "function '${body.name}' is not known"),
    ],
)
def test_what_is_no_condition_is_told(source: str, words: str) -> None:
    with pytest.raises(ValueError) as refused:
        SimplePredicate.parse(source)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("source", "family"),
    [("${body} === 1", Family.OPERATOR), ("!${body}", Family.OPERATOR), ("${bean:a} == 1", Family.FUNCTION)],
)
def test_what_only_camel_may_know_says_so(source: str, family: Family) -> None:
    with pytest.raises(UnknownName) as refused:
        SimplePredicate.parse(source)
    assert refused.value.unknown.family is family


@given(st.text(alphabet="${}[]'\" =!<>~&|?.0123body header.n contains in", max_size=40))
async def test_any_text_is_a_condition_or_a_value_error(source: str) -> None:
    try:
        predicate = SimplePredicate.parse(source)
    except ValueError:
        return
    assert len(predicate.links) == len(predicate.comparisons) - 1


values = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=6), st.binary(max_size=4)
)
plain = [name for name in OPERATORS if not name.startswith(("!", "not")) and name not in ("is", "range", "regex")]


@given(values, values)
def test_values_are_equal_in_both_directions_when_they_are_texts_or_of_one_kind(left: object, right: object) -> None:
    if type(left) is type(right):
        assert equal(left, right) == equal(right, left)
    assert equal(left, left)


@given(st.sampled_from(plain), values, values)
def test_any_two_values_can_be_compared(operator: str, left: object, right: object) -> None:
    assert OPERATORS[operator](left, right) in (True, False)


@given(st.lists(st.sampled_from(["true", "false"]), min_size=1, max_size=6), st.data())
async def test_links_are_read_from_left_to_right(words: list[str], data: st.DataObject) -> None:
    links = [data.draw(st.sampled_from(["&&", "||"])) for _ in words[1:]]
    holds = words[0] == "true"
    for link, word in zip(links, words[1:], strict=True):
        holds = (holds and word == "true") if link == "&&" else (holds or word == "true")
    source = words[0] + "".join(f" {link} {word}" for link, word in zip(links, words[1:], strict=True))
    assert await SimplePredicate.parse(source).matches(message(), flow_context()) is holds
