"""CloudEvents as HTTP requests."""

import msgspec
import pytest
from cloudevents.core.bindings.http import to_binary, to_structured
from cloudevents.core.formats.json import JSONFormat
from cloudevents.core.v1.event import CloudEvent as ReferenceEvent
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.errors import Invalid, UnsupportedMedia
from penstock.protocol.cloudevent import BATCH_MEDIA, EVENT_MEDIA, CloudEvent
from penstock.protocol.cloudevent_http import events_from_http

CE = {"ce-specversion": "1.0", "ce-id": "1", "ce-source": "/orders", "ce-type": "order.placed"}
EVENT = CloudEvent(id="1", source="/orders", type="order.placed", data={"a": 1})


def only_event(headers: dict[str, str], body: bytes) -> CloudEvent:
    events = events_from_http(headers, body)
    assert events is not None
    assert len(events) == 1
    return events[0]


def test_structured_mode_is_told_by_the_content_type() -> None:
    for media in (EVENT_MEDIA, f"{EVENT_MEDIA}; charset=utf-8", EVENT_MEDIA.upper()):
        assert events_from_http({"content-type": media}, EVENT.to_json()) == [EVENT]


def test_batched_mode_holds_any_number_of_events() -> None:
    body = msgspec.json.encode([EVENT.value(), EVENT.value()])
    assert events_from_http({"content-type": BATCH_MEDIA}, body) == [EVENT, EVENT]
    assert events_from_http({"content-type": BATCH_MEDIA}, b"[]") == []


@pytest.mark.parametrize("media", ["application/cloudevents", "application/cloudevents+avro"])
def test_other_event_formats_are_not_supported(media: str) -> None:
    with pytest.raises(UnsupportedMedia):
        events_from_http({"content-type": media}, b"")


def test_a_request_without_events_in_it_is_none_of_the_binding() -> None:
    assert events_from_http({"content-type": "application/json"}, b"{}") is None
    assert events_from_http({}, b"x") is None


@pytest.mark.parametrize(
    ("content_type", "body", "member", "value"),
    [
        ("application/json", b'{"a":1}', "data", {"a": 1}),
        (None, b'{"a":1}', "data", {"a": 1}),
        ("application/xml", b"<a/>", "data", "<a/>"),
        ("application/octet-stream", b"\xff\x00", "data_base64", "/wA="),
        ("application/json", b"", "data", None),
    ],
)
def test_binary_mode_has_the_data_as_body(content_type: str | None, body: bytes, member: str, value: object) -> None:
    headers = CE | ({"content-type": content_type} if content_type else {})
    event = only_event(headers, body)
    assert (event.id, event.source, event.type, event.datacontenttype) == ("1", "/orders", "order.placed", content_type)
    assert getattr(event, member) == value


@pytest.mark.parametrize(
    ("header", "text"),
    [("plain", "plain"), ("%C3%A9%20%25", "é %"), ('"quoted \\"text\\""', 'quoted "text"'), ("%zz", "%zz")],
)
def test_attributes_in_headers_are_decoded(header: str, text: str) -> None:
    event = only_event(CE | {"ce-subject": header, "ce-traceid": header}, b"")
    assert (event.subject, event.extensions) == (text, {"traceid": text})


@pytest.mark.parametrize(
    ("headers", "body", "field"),
    [
        ({"ce-id": "1"}, b"", "source"),
        (CE | {"ce-specversion": "2"}, b"", "specversion"),
        (CE | {"ce-subject": "%ff"}, b"", "subject"),
        (CE | {"ce-data": "x"}, b"", "data"),
        (CE | {"ce-datacontenttype": "text/plain"}, b"", "datacontenttype"),
        (CE | {"content-type": "application/json"}, b"{", "data"),
        (CE | {"ce-bad_name": "x"}, b"", "bad_name"),
    ],
)
def test_a_bad_header_is_named_as_its_attribute(headers: dict[str, str], body: bytes, field: str) -> None:
    with pytest.raises(Invalid) as caught:
        events_from_http(headers, body)
    assert field in [error.field for error in caught.value.errors]


text = st.text(st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), min_size=1, max_size=30)


@given(text, text, st.dictionaries(text, st.integers(-1000, 1000)))
def test_what_the_reference_implementation_sends_is_read(id: str, subject: str, data: dict[str, int]) -> None:
    attributes = {"id": id, "source": "/s", "type": "t", "specversion": "1.0", "subject": subject}
    theirs = ReferenceEvent(attributes | {"datacontenttype": "application/json"}, data)
    for write in (to_binary, to_structured):
        message = write(theirs, JSONFormat())
        event = only_event({name.lower(): value for name, value in message.headers.items()}, message.body)
        assert (event.id, event.subject, event.data) == (id, subject, data)
