"""CloudEvents in JSON."""

import base64
from typing import Any

import msgspec
import pytest
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent as ReferenceEvent
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.errors import Invalid
from penstock.protocol.cloudevent import (
    LONGEST,
    LONGEST_KEY,
    CloudEvent,
    batch_to_json,
    events_from_batch,
)

LEAST: dict[str, Any] = {"specversion": "1.0", "id": "1", "source": "/orders", "type": "order.placed"}


def read(**attributes: Any) -> CloudEvent:
    return CloudEvent.from_value({**LEAST, **attributes})


def problems(value: Any) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        CloudEvent.from_value(value)
    return {error.field: error.message for error in caught.value.errors}


def test_an_event_needs_an_id_a_source_a_type_and_a_version() -> None:
    event = CloudEvent.from_value(LEAST)
    assert (event.id, event.source, event.type, event.specversion) == ("1", "/orders", "order.placed", "1.0")
    assert problems({}) == dict.fromkeys(LEAST, "is required")
    for name in LEAST:
        assert problems({**LEAST, name: None}) == {name: "is required"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", ""),
        ("id", 5),
        ("id", "a\nb"),
        ("id", "x" * (LONGEST_KEY + 1)),
        ("id", "é" * (LONGEST_KEY // 2 + 1)),
        ("source", ""),
        ("source", "two words"),
        ("source", "/50%"),
        ("source", "\u00e9"),
        ("type", "\x7f"),
        ("type", True),
        ("specversion", "0.3"),
        ("specversion", 1.0),
        ("time", "yesterday"),
        ("time", "2026-01-31T08:30:00"),
        ("time", "2026-02-30T08:30:00Z"),
        ("time", "2026-01-31"),
        ("subject", ""),
        ("subject", ["a"]),
        ("subject", "x" * (LONGEST + 1)),
        ("datacontenttype", "json"),
        ("dataschema", "/relative"),
        ("dataschema", "http://a b"),
        ("data_base64", "no base64!"),
        ("data_base64", 5),
        ("Upper", "x"),
        ("with_underscore", "x"),
        ("x" * 65, "x"),
        ("number", 1.5),
        ("number", 2**31),
        ("object", {}),
        ("text", "\u0000"),
    ],
)
def test_what_an_attribute_cannot_be_is_named(name: str, value: Any) -> None:
    assert list(problems({**LEAST, name: value})) == [name]


def test_every_bad_attribute_is_named_at_once() -> None:
    assert set(problems({"id": "", "type": 1, "time": "x"})) == {"id", "source", "type", "specversion", "time"}


@pytest.mark.parametrize("value", [None, 5, "text", [], [LEAST]])
def test_what_is_no_object_is_no_event(value: Any) -> None:
    assert list(problems(value)) == [""]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 5000])
def test_what_is_no_json_is_no_event(body: bytes) -> None:
    with pytest.raises(Invalid, match="not valid JSON"):
        CloudEvent.from_json(body)


@pytest.mark.parametrize(
    "time",
    [
        "2026-01-31T08:30:00Z",
        "2026-01-31t08:30:00z",
        "2026-01-31T08:30:00.123456789+05:30",
        "2026-01-31T08:30:00-00:00",
    ],
)
def test_a_time_stays_as_it_came(time: str) -> None:
    event = read(time=time)
    assert event.time == time
    assert event.at is not None


def test_attributes_that_are_null_are_not_there() -> None:
    event = read(subject=None, data=None, data_base64=None, extra=None)
    assert event.value() == LEAST


def test_other_attributes_are_extensions_of_three_types() -> None:
    event = read(traceparent="00-1", retries=-(2**31), urgent=False, extensions="a name like any other")
    assert event.extensions == {
        "traceparent": "00-1",
        "retries": -(2**31),
        "urgent": False,
        "extensions": "a name like any other",
    }
    assert CloudEvent.from_value(event.value()) == event


def test_data_is_either_a_value_or_binary() -> None:
    assert set(problems({**LEAST, "data": 1, "data_base64": "AA=="})) == {"data_base64"}


@pytest.mark.parametrize(
    ("members", "payload", "is_json"),
    [
        ({}, b"", True),
        ({"data": {"a": [1]}}, b'{"a":[1]}', True),
        ({"data": "text"}, b'"text"', True),
        ({"data": "text", "datacontenttype": "application/vnd.x+json; charset=utf-8"}, b'"text"', True),
        ({"data": "<a/>", "datacontenttype": "application/xml"}, b"<a/>", False),
        ({"data": {"a": 1}, "datacontenttype": "application/xml"}, b'{"a":1}', False),
        ({"data_base64": "AAEC", "datacontenttype": "application/octet-stream"}, b"\x00\x01\x02", False),
        ({"data_base64": "AAEC"}, b"\x00\x01\x02", False),
    ],
)
def test_the_payload_is_the_data_in_its_own_form(members: dict[str, Any], payload: bytes, is_json: bool) -> None:
    event = read(**members)
    assert (event.payload(), event.has_json) == (payload, is_json)


def test_source_and_id_tell_events_apart() -> None:
    key = read().key
    assert read(type="another", data=5).key == key
    assert key not in {read(id="2").key, read(source="/order").key, read(id="/orders", source="1").key}
    assert len(key) == 32


def test_a_batch_keeps_its_order_and_names_bad_attributes_by_their_place() -> None:
    events = events_from_batch(msgspec.json.encode([{**LEAST, "id": str(number)} for number in range(3)]))
    assert [event.id for event in events] == ["0", "1", "2"]
    assert events_from_batch(batch_to_json(events)) == events
    assert events_from_batch(b"[]") == []
    with pytest.raises(Invalid) as caught:
        events_from_batch(msgspec.json.encode([LEAST, {**LEAST, "source": ""}, 5]))
    assert [error.field for error in caught.value.errors] == ["[1].source", "[2]"]
    with pytest.raises(Invalid, match="must be an array"):
        events_from_batch(b"{}")


printable = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=40)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=10,
)
events = st.builds(
    CloudEvent,
    id=printable,
    source=st.from_regex(r"[a-z/:.#?=&%]{0}[a-z/:.]{1,30}", fullmatch=True),
    type=printable,
    subject=st.none() | printable,
    time=st.none() | st.datetimes().map(lambda moment: moment.isoformat() + "Z"),
    datacontenttype=st.sampled_from([None, "application/json", "text/plain"]),
    extensions=st.dictionaries(
        st.from_regex(r"ext[a-z0-9]{1,10}", fullmatch=True),
        printable | st.booleans() | st.integers(-(2**31), 2**31 - 1),
        max_size=3,
    ),
    data=json_values,
)


@given(events)
def test_an_event_reads_back_as_it_was_written(event: CloudEvent) -> None:
    assert CloudEvent.from_json(event.to_json()) == event


@given(st.binary(min_size=1, max_size=50))
def test_binary_data_reads_back_as_it_was_written(data: bytes) -> None:
    event = read(data_base64=base64.b64encode(data).decode(), datacontenttype="application/octet-stream")
    assert CloudEvent.from_json(event.to_json()).payload() == data


@given(events)
def test_the_reference_implementation_reads_the_same(event: CloudEvent) -> None:
    theirs = JSONFormat().read(ReferenceEvent, event.to_json())
    assert (theirs.get_id(), theirs.get_source(), theirs.get_type()) == (event.id, event.source, event.type)
    assert theirs.get_data() == event.data
    assert CloudEvent.from_json(JSONFormat().write(theirs)).extensions == event.extensions


@given(st.recursive(json_values, lambda inner: st.dictionaries(st.sampled_from(sorted(LEAST)), inner)))
def test_anything_is_either_an_event_or_invalid(value: Any) -> None:
    try:
        event = CloudEvent.from_value(value)
    except Invalid:
        return
    assert CloudEvent.from_value(event.value()) == event
