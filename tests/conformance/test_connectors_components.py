from collections.abc import Mapping
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.bus.bus import Bus
from penstock.connectors.component import ComponentKind
from penstock.connectors.expression import Expression
from penstock.connectors.failure import Undeliverable
from penstock.connectors.registry import Family, built, registry
from penstock.connectors.surroundings import Surroundings
from penstock.connectors.template import parsed
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import Invalid
from penstock.protocol.cloudevent import CloudEvent

ORDER = CloudEvent(
    id="1",
    source="/shop",
    type="com.example.order.created",
    subject="order-7",
    extensions={"priority": "5", "urgent": True},
    data={"amount": 120.5, "customer": {"name": "Ada"}, "items": [{"price": 3}, {"price": 30}]},
)
# Components use nothing of the bus.
SURROUNDINGS = Surroundings("orders", cast(Bus, None), AddressGuard(allow_private=False), SystemClock())


async def applied(identifier: str, configuration: Mapping[str, Any], event: CloudEvent = ORDER) -> CloudEvent | None:
    use = built(registry().kind(Family.COMPONENT, identifier, None), dict(configuration))
    assert isinstance(use, ComponentKind)
    return await use.start(SURROUNDINGS)(event)


def problems(identifier: str, configuration: dict[str, Any]) -> list[str]:
    with pytest.raises(Invalid) as caught:
        built(registry().kind(Family.COMPONENT, identifier, None), configuration)
    return [error.field for error in caught.value.errors]


# Expressions


@pytest.mark.parametrize(
    "text",
    [
        "type = 'com.example.order.created'",
        'type LIKE "com.example.%"',
        "type LIKE 'com.example.order._reated'",
        "NOT type LIKE '%.deleted'",
        "type NOT LIKE '%.deleted'",
        "EXISTS subject AND NOT EXISTS dataschema",
        "urgent",
        "urgent = TRUE",
        "priority = 5",
        "priority + 1 = 6 AND priority * 2 >= 10 AND priority % 2 = 1",
        "-1 < 0 AND 2 - 3 = -1 AND 7 / 2 = 3.5",
        "data.amount > 100",
        "data.customer.name IN ('Bob', 'Ada')",
        "data.customer.name NOT IN ('Bob')",
        "FALSE OR TRUE AND TRUE",
        "TRUE OR FALSE AND FALSE",
        "TRUE XOR FALSE",
        "(TRUE OR FALSE) AND type != 'x' AND type <> 'y'",
        "nothing = 1 OR TRUE",
        "NOT nothing = 1",
        "source = '/shop' and subject like 'order-%'",
        r"'it\'s' = " + '"it' + "'" + 's"',
    ],
)
def test_an_expression_that_is_true_holds(text: str) -> None:
    assert Expression(text).holds(ORDER)


@pytest.mark.parametrize(
    "text",
    [
        "nothing = 1",
        "nothing",
        "subject",
        "data.customer = 'Ada'",
        "data.customer.name.first = 'A'",
        "priority / 0 = 1",
        "type > 5",
        "subject LIKE 'ORDER-%'",
        "urgent AND nothing LIKE '%'",
        "TRUE XOR TRUE",
    ],
)
def test_an_expression_that_is_false_or_cannot_be_evaluated_does_not_hold(text: str) -> None:
    assert not Expression(text).holds(ORDER)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "expected an attribute or a value at 1"),
        ("type =", "expected an attribute or a value at 7, not 'the end'"),
        ("type 'x'", "expected an operator at 6"),
        ("(type = 'x'", "expected '\\)' at 12"),
        ("type LIKE 5", "expected a text at 11"),
        ("type IN 5", "expected '\\(' at 9"),
        ("type NOT = 5", "expected LIKE or IN at 10"),
        ("type = 'x", "cannot read ''x' at 8"),
        ("type # 1", "cannot read '# 1' at 6"),
        ("type.name = 1", "only data has members"),
        ("(" * 60 + "TRUE" + ")" * 60, "nested more than 50 deep"),
        ("-" * 60 + "1 = 1", "nested more than 50 deep"),
    ],
)
def test_a_broken_expression_is_refused_with_the_place(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Expression(text)


@given(st.text(max_size=30))
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    try:
        Expression(text).holds(ORDER)
    except ValueError:
        return


@given(st.text(st.characters(codec="utf-8", exclude_characters="\\'"), min_size=1, max_size=20))
def test_a_literal_equals_the_text_that_it_stands_for(text: str) -> None:
    event = CloudEvent(id="1", source="/", type="t", data={"text": text})
    assert Expression(f"data.text = '{text}'").holds(event)


# Filter


@pytest.mark.parametrize(
    ("configuration", "passes"),
    [
        ({"expression": "data.amount > 100"}, True),
        ({"expression": "data.amount > 1000"}, False),
        ({"jsonPath": "$.data.items[?@.price > 10]"}, True),
        ({"jsonPath": "$.data.items[?@.price > 100]"}, False),
        ({"jsonPath": "$[?@.customer.name == 'Ada']"}, True),
        ({"expression": "urgent", "jsonPath": "$.nothing"}, False),
    ],
)
async def test_a_filter_lets_through_what_its_conditions_select(configuration: dict[str, Any], passes: bool) -> None:
    assert await applied("filter", configuration) == (ORDER if passes else None)


def test_a_filter_needs_a_condition_that_can_be_read() -> None:
    assert problems("filter", {}) == ["Configuration.expression"]
    assert problems("filter", {"expression": "type =", "jsonPath": "$["}) == [
        "Configuration.expression",
        "Configuration.jsonPath",
    ]


# Templates and transform


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        ("plain", "plain"),
        ("${data.amount}", 120.5),
        ("${data.customer}", {"name": "Ada"}),
        ("${$.data.items[*].price}", [3, 30]),
        ("${data.items[1].price} for ${data.customer.name}", "30 for Ada"),
        ("${nothing}", None),
        ("[${nothing}]", "[]"),
        ("$${data}", "${data}"),
        ("costs $5 {}", "costs $5 {}"),
        ({"a": ["${subject}", 1, None, True]}, {"a": ["order-7", 1, None, True]}),
    ],
)
def test_a_template_selects_from_the_event(template: Any, expected: Any) -> None:
    assert parsed(template)(ORDER.value()) == expected


@given(st.text().filter(lambda text: "${" not in text))
def test_text_without_selection_stays_as_it_is(text: str) -> None:
    assert parsed(text)({}) == text


@pytest.mark.parametrize("template", ["${", "a ${b", "${a b}", "${}", {"x": ["${["]}])
def test_a_broken_template_is_refused(template: Any) -> None:
    with pytest.raises(ValueError, match=r"is not closed|is no JSONPath"):
        parsed(template)


async def test_a_transformation_makes_data_and_attributes_anew() -> None:
    result = await applied(
        "transform",
        {
            "data": {"who": "${data.customer.name}", "total": "${data.amount}"},
            "attributes": {"type": "order.${subject}", "priority": "", "region": "eu"},
        },
    )
    assert result is not None
    assert (result.id, result.source, result.type) == ("1", "/shop", "order.order-7")
    assert result.data == {"who": "Ada", "total": 120.5}
    assert result.extensions == {"urgent": True, "region": "eu"}


async def test_binary_data_gives_way_to_the_transformed() -> None:
    event = CloudEvent(id="1", source="/", type="t", data_base64="AAEC")
    result = await applied("transform", {"data": {"raw": "${data_base64}"}}, event)
    assert result is not None
    assert (result.data, result.data_base64) == ({"raw": "AAEC"}, None)


async def test_a_transformation_that_makes_no_valid_event_fails_for_good() -> None:
    with pytest.raises(Undeliverable, match="type"):
        await applied("transform", {"attributes": {"type": "${nothing}"}})


def test_the_id_of_an_event_cannot_be_transformed() -> None:
    assert problems("transform", {"attributes": {"id": "2", "subject": "${"}}) == [
        "Configuration.attributes.id",
        "Configuration.attributes.subject",
    ]
    assert problems("transform", {}) == ["Configuration.data"]


# Enrich


async def test_enriching_adds_and_keeps_what_is_there() -> None:
    configuration = {
        "data": {"amount": 0, "customer": {"name": "Bob", "tier": 1}, "site": "north"},
        "extensions": {"urgent": False, "region": "eu"},
    }
    kept = await applied("enrich", configuration)
    assert kept is not None
    assert kept.data == {**ORDER.data, "customer": {"name": "Ada", "tier": 1}, "site": "north"}
    assert kept.extensions == {"priority": "5", "urgent": True, "region": "eu"}
    over = await applied("enrich", {**configuration, "overwrite": True})
    assert over is not None
    assert (over.data["amount"], over.data["customer"]) == (0, {"name": "Bob", "tier": 1})
    assert over.extensions["urgent"] is False


async def test_an_event_without_data_gets_the_members_as_data() -> None:
    result = await applied("enrich", {"data": {"a": 1}}, CloudEvent(id="1", source="/", type="t"))
    assert result is not None
    assert result.data == {"a": 1}


async def test_data_that_is_no_object_cannot_be_enriched() -> None:
    with pytest.raises(Undeliverable):
        await applied("enrich", {"data": {"a": 1}}, CloudEvent(id="1", source="/", type="t", data=[1]))


def test_enriching_takes_extensions_only() -> None:
    assert problems("enrich", {"extensions": {"type": "x"}}) == ["Configuration.extensions.type"]
    assert problems("enrich", {"extensions": {"not-valid": "x"}}) == ["Configuration.extensions.not-valid"]
    assert problems("enrich", {}) == ["Configuration.data"]
