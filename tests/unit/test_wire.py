"""Wire Structs: names by one rule, strict decoding, times in UTC, exact encoding."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.duration import Duration
from penstock.kernel.wire import (
    Int32,
    Int64,
    Map,
    UInt64,
    Wire,
    decode_hook,
    document_name,
    encode,
    join_array,
    parse_time,
    utc,
    wire_name,
)


class Inner(Wire):
    e_tag: str | None = None


class Sample(Wire):
    name: str
    http3_encoded_bytes: bytes | None = None
    time_to_live: Int32 | None = None
    max_memory: Int64 | None = None
    messages: UInt64 | None = None
    frequency: Duration | None = None
    inner: Inner | None = None
    labels: list[str] = []
    variables: Map = {}


def decode(body: bytes) -> Sample:
    return msgspec.json.decode(body, type=Sample, dec_hook=decode_hook)


@pytest.mark.parametrize(
    ("python", "wire", "document"),
    [
        ("name", "Name", "name"),
        ("e_tag", "ETag", "eTag"),
        ("cron_expression", "CronExpression", "cronExpression"),
        ("http3_encoded_bytes", "Http3EncodedBytes", "http3EncodedBytes"),
        ("id", "Id", "id"),
    ],
)
def test_names_are_pascal_case_on_the_wire_and_camel_case_in_documents(python: str, wire: str, document: str) -> None:
    assert wire_name(python) == wire
    assert document_name(python) == document


def test_every_field_is_answered_under_its_wire_name() -> None:
    answer = msgspec.json.decode(encode(Sample(name="a", inner=Inner(), variables={"my_key": 1})))
    assert answer == {
        "Name": "a",
        "Http3EncodedBytes": None,
        "TimeToLive": None,
        "MaxMemory": None,
        "Messages": None,
        "Frequency": None,
        "Inner": {"ETag": None},
        "Labels": [],
        "Variables": {"my_key": 1},
    }


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"Name": "a", "Colour": "red"}', "Object contains unknown field `Colour`"),
        (b'{"name": "a"}', "Object contains unknown field `name`"),
        (b'{"Name": "a", "Inner": {"Etag": "x"}}', "Object contains unknown field `Etag` - at `$.Inner`"),
        (b"{}", "Object missing required field `Name`"),
        (b'{"Name": 1}', "Expected `str`, got `int` - at `$.Name`"),
        (b'{"Name": "a", "TimeToLive": 2147483648}', "Expected `int` <= 2147483647 - at `$.TimeToLive`"),
        (b'{"Name": "a", "TimeToLive": -2147483649}', "Expected `int` >= -2147483648 - at `$.TimeToLive`"),
        (b'{"Name": "a", "TimeToLive": "5"}', "Expected `int | null`, got `str` - at `$.TimeToLive`"),
        (b'{"Name": "a", "Messages": -1}', "Expected `int` >= 0 - at `$.Messages`"),
        (b'{"Name": "a", "Frequency": 5}', "must be a duration like '00:00:30' or 'PT30S' - at `$.Frequency`"),
    ],
)
def test_a_body_that_does_not_fit_is_refused_with_the_place(body: bytes, message: str) -> None:
    with pytest.raises(msgspec.ValidationError) as raised:
        decode(body)
    assert str(raised.value) == message


def test_a_bad_duration_is_refused_with_what_is_allowed() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"^must be a duration like .* - at `\$\.Frequency`$"):
        decode(b'{"Name": "a", "Frequency": "soon"}')


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("time_to_live", -(2**31)),
        ("time_to_live", 2**31 - 1),
        ("max_memory", 2**63 - 1),
        ("max_memory", -(2**63)),
        ("messages", 2**64 - 1),
        ("http3_encoded_bytes", b"\x00\xff"),
        ("frequency", Duration(days=1, seconds=3)),
        ("variables", {"snake_key": {"PascalKey": [1, None, "x"]}}),
    ],
)
def test_what_is_encoded_decodes_to_the_same(field: str, value: Any) -> None:
    sample = Sample(**{"name": "a", field: value})
    assert decode(encode(sample)) == sample


def test_fields_are_given_by_keyword_only_in_subclasses_too() -> None:
    with pytest.raises(TypeError, match="positional"):
        Inner("tag")  # type: ignore[misc]


def test_a_duration_is_answered_in_its_wire_form() -> None:
    assert encode([Duration(hours=26, minutes=30)]) == b'["1.02:30:00"]'


def test_bytes_are_base64_and_ids_lower_case() -> None:
    assert encode(b"\xfb\xff") == b'"+/8="'
    assert encode(UUID("ABCDEF00-0000-7000-8000-000000000000")) == b'"abcdef00-0000-7000-8000-000000000000"'


def test_what_has_no_wire_form_is_a_fault_not_an_answer() -> None:
    with pytest.raises(NotImplementedError, match="no wire form for <class 'object'>"):
        encode({"value": object()})


@given(st.lists(st.dictionaries(st.text(), st.integers(-(2**31), 2**31)), max_size=5))
def test_joined_documents_are_the_array_of_them(documents: list[dict[str, int]]) -> None:
    assert msgspec.json.decode(join_array([encode(document) for document in documents])) == documents


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-01-31T08:30:00Z", datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
        ("2026-01-31T08:30:00", datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
        ("2026-01-31T08:30", datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
        ("2026-01-31 08:30:00z", datetime(2026, 1, 31, 8, 30, tzinfo=UTC)),
        ("2026-01-31", datetime(2026, 1, 31, tzinfo=UTC)),
        ("2026-01-31T08:30:00+02:00", datetime(2026, 1, 31, 6, 30, tzinfo=UTC)),
        ("2026-01-31T23:30:00-0130", datetime(2026, 2, 1, 1, 0, tzinfo=UTC)),
        ("2026-01-31T08:30:00.5Z", datetime(2026, 1, 31, 8, 30, 0, 500_000, tzinfo=UTC)),
        ("2026-01-31T08:30:00.1234567Z", datetime(2026, 1, 31, 8, 30, 0, 123_456, tzinfo=UTC)),
        ("9999-12-31T23:59:59.9999999Z", datetime.max.replace(tzinfo=UTC)),
    ],
)
def test_iso_8601_times_are_read_as_utc(text: str, moment: datetime) -> None:
    parsed = parse_time(text)
    assert parsed == moment
    assert parsed.utcoffset() == timedelta(0)


NO_TIME = "must be an ISO 8601 date-time like '2026-01-31T08:30:00Z'"


def parsed_or_refused(text: str) -> datetime | str:
    try:
        return parse_time(text)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "2026-02-30",
        "2026-01-31T25:00:00",
        "2026-01-31T08:30:00+99:00",
        "2026-01-31T08:30:00 02:00",
        "20260131T083000Z",
        "1767225600",
        "2026-01-31T08:30:00Z\n",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-01:00",
        "\u0662\u0660\u0662\u0666-01-31",
        "\ud800",
    ],
)
def test_any_other_text_is_no_time(text: str) -> None:
    assert parsed_or_refused(text) == NO_TIME


OFFSETS = st.timedeltas(timedelta(hours=-14), timedelta(hours=14)).map(
    lambda offset: timezone(timedelta(minutes=offset // timedelta(minutes=1)))
)


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 1, 1), timezones=OFFSETS))
def test_a_time_reads_back_as_the_same_moment_from_any_offset(moment: datetime) -> None:
    assert parse_time(moment.isoformat()) == moment
    assert utc(moment) == moment
    assert utc(moment).tzinfo is UTC


@given(st.text(max_size=40) | st.from_regex(r"\d{4}-\d\d-\d\d[T ]?[0-9:.,]*([Zz]|[+-][0-9:]*)?", fullmatch=True))
def test_no_text_makes_time_parsing_fail_in_another_way(text: str) -> None:
    result = parsed_or_refused(text)
    assert result == NO_TIME if isinstance(result, str) else result.tzinfo is UTC
