"""Who asks for an event."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.resource.event_patterns import Pattern, PatternIndex

values = st.sampled_from(["a", "b", "c"])
parts = st.sampled_from(["*", "a", "b", "c"])
routes = st.lists(st.tuples(st.tuples(parts, parts, parts), st.sampled_from(["one", "two", "three", "four"])))


def matches(pattern: Pattern, event: Pattern) -> bool:
    return all(wanted in ("*", given) for wanted, given in zip(pattern, event, strict=True))


@given(routes, st.tuples(values, values, values))
def test_an_event_goes_once_to_every_channel_with_a_matching_subscription(
    routes: list[tuple[Pattern, str]], event: Pattern
) -> None:
    expected = {channel for pattern, channel in routes if matches(pattern, event)}
    assert set(PatternIndex(routes).asking(*event)) == expected


def found(index: PatternIndex, *event: str) -> list[str]:
    return sorted(index.asking(*event))


def test_each_part_is_exact_or_a_star() -> None:
    index = PatternIndex(
        [
            (("/a", "t", "1.0"), "exact"),
            (("*", "t", "1.0"), "any source"),
            (("/a", "*", "1.0"), "any type"),
            (("/a", "t", "*"), "any version"),
            (("*", "*", "*"), "everything"),
        ]
    )
    assert found(index, "/a", "t", "1.0") == ["any source", "any type", "any version", "everything", "exact"]
    assert found(index, "/b", "t", "1.0") == ["any source", "everything"]
    assert found(index, "/a", "u", "1.0") == ["any type", "everything"]
    assert found(index, "/b", "u", "2.0") == ["everything"]


def test_a_star_is_no_wildcard_within_a_part() -> None:
    index = PatternIndex([(("/orders/*", "order.*", "1.0"), "channel")])
    assert found(index, "/orders/5", "order.placed", "1.0") == []
    assert found(index, "/orders/*", "order.*", "1.0") == ["channel"]


def test_parts_are_compared_with_case() -> None:
    index = PatternIndex([(("/A", "T", "1.0"), "channel")])
    assert found(index, "/a", "t", "1.0") == []


def test_without_subscriptions_events_go_nowhere() -> None:
    assert found(PatternIndex([]), "/a", "t", "1.0") == []
