"""The entity base: what stamping sets, keeps and ignores."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from penstock.kernel.actor import Actor, Role
from penstock.kernel.entity import Entity
from penstock.kernel.ids import new_id

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
ANN = Actor(name="ann", roles=frozenset({Role.OPERATOR}))
BOB = Actor(name="bob", roles=frozenset({Role.OPERATOR}))


class Gauge(Entity):
    name: str
    unit: str | None = None


def test_a_new_entity_says_who_made_it_and_when() -> None:
    made = Gauge(name="flow", unit="l/s").created(ANN, NOON)
    assert (made.name, made.unit) == ("flow", "l/s")
    assert (made.created_by, made.created_date) == ("ann", NOON)
    assert (made.updated_by, made.update_date) == ("ann", NOON)
    assert made.id is not None
    assert made.e_tag


def test_a_new_entity_keeps_the_id_it_was_given() -> None:
    given = UUID(int=0)
    assert Gauge(name="flow", id=given).created(ANN, NOON).key == given


def test_what_a_request_says_about_making_and_deletion_has_no_effect() -> None:
    forged = Gauge(name="flow", e_tag="mine", created_by="root", created_date=NOON - timedelta(days=9), is_deleted=True)
    made = forged.created(ANN, NOON)
    assert (made.created_by, made.created_date, made.is_deleted) == ("ann", NOON, False)
    assert made.e_tag != "mine"


def test_a_changed_entity_keeps_id_and_maker_and_says_who_changed_it_and_when() -> None:
    before = Gauge(name="flow", unit="l/s").created(ANN, NOON)
    later = NOON + timedelta(hours=1)
    after = Gauge(name="flow", unit="m3/h", id=new_id(), created_by="root").changed(before, BOB, later)
    assert after.unit == "m3/h"
    assert (after.id, after.created_by, after.created_date) == (before.id, "ann", NOON)
    assert (after.updated_by, after.update_date) == ("bob", later)


def test_every_write_has_an_etag_of_its_own() -> None:
    first = Gauge(name="flow").created(ANN, NOON)
    second = first.changed(first, ANN, NOON)
    third = second.changed(second, ANN, NOON)
    assert len({first.e_tag, second.e_tag, third.e_tag}) == 3


def test_time_to_live_is_what_the_write_says() -> None:
    before = Gauge(name="flow", time_to_live=60).created(ANN, NOON)
    assert before.time_to_live == 60
    assert Gauge(name="flow").changed(before, ANN, NOON).time_to_live is None


def test_stamping_leaves_the_original_as_it_was() -> None:
    gauge = Gauge(name="flow")
    gauge.created(ANN, NOON)
    assert gauge == Gauge(name="flow")


def test_an_entity_that_was_not_stored_has_no_key() -> None:
    with pytest.raises(ValueError, match="the entity has no id yet"):
        _ = Gauge(name="flow").key
