"""Stored bodies are read leniently where input is not."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import msgspec
import pytest

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Int64, Map, Wire, encode
from penstock.store.store import decode


class Part(Wire):
    name: str
    weight: Int64 = 0


class Machine(Wire):
    id: UUID
    built: datetime
    lasts: Duration
    main: Part
    spare: Part | None = None
    parts: list[Part] = []
    by_name: dict[str, Part] = {}
    rows: list[list[Part | None]] = []
    labels: Map = {}
    code: bytes = b""
    maybe: list[Part] | None = None


MACHINE = Machine(
    id=UUID(int=7),
    built=datetime(2026, 1, 1, tzinfo=UTC),
    lasts=Duration.of(timedelta(days=1)),
    main=Part(name="main"),
    spare=Part(name="spare"),
    parts=[Part(name="a"), Part(name="b")],
    by_name={"Anything": Part(name="c")},
    rows=[[None, Part(name="d")], []],
    labels={"Free": {"Form": [1, {"Deep": None}]}},
    code=b"\x00\xff",
    maybe=[Part(name="e")],
)


def with_relics(value: Any) -> Any:
    """The JSON with a field of an older release in every object that is a Struct."""
    if isinstance(value, list):
        return [with_relics(each) for each in value]
    if isinstance(value, dict):
        inner = {name: each if name == "Labels" else with_relics(each) for name, each in value.items()}
        return inner | {"Relic": {"Name": "old"}} if "Name" in value or "Built" in value else inner
    return value


def test_a_body_comes_back_as_it_was() -> None:
    assert decode(encode(MACHINE), Machine) == MACHINE


def test_fields_that_are_no_more_are_passed_over_at_every_depth() -> None:
    body = msgspec.json.encode(with_relics(msgspec.json.decode(encode(MACHINE))))
    assert body.count(b"Relic") == 8
    with pytest.raises(msgspec.ValidationError, match="unknown field"):
        msgspec.json.decode(body, type=Machine, dec_hook=lambda wanted, value: Duration.parse(value))
    assert decode(body, Machine) == MACHINE


def test_keys_of_free_form_objects_are_no_fields_and_stay() -> None:
    body = msgspec.json.encode(msgspec.json.decode(encode(MACHINE)) | {"Relic": 1})
    assert decode(body, Machine).labels == MACHINE.labels


def test_what_does_not_fit_otherwise_is_an_error() -> None:
    with pytest.raises(msgspec.ValidationError, match="missing required field `Name`"):
        decode(b'{"Relic":1}', Part)
    with pytest.raises(msgspec.ValidationError, match="Expected `int`"):
        decode(b'{"Name":"a","Weight":"heavy","Relic":1}', Part)
