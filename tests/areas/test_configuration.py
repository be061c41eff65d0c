"""Configuration documents: checked, planned, applied all or none."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.areas.configuration.document import read_documents
from penstock.areas.configuration.service import ConfigurationService
from penstock.areas.configuration.yaml_tree import read_trees
from penstock.kernel.actor import SYSTEM
from penstock.kernel.clock import SystemClock
from penstock.kernel.errors import FieldError, Invalid, NameTaken, PenstockError
from penstock.resource.ports.configuration_kinds import ConfigurationKinds
from penstock.store.connect import store_for
from penstock.store.store import Store
from penstock.store.write import Delete, Insert
from tests.areas.lamps import LAMPS, Lamp, LampKind


def lamp(name: str, watts: object = 40, extra: str = "") -> str:
    return (
        f"apiVersion: penstock/v1alpha1\nkind: Lamp\nmetadata:\n  name: {name}\nspec:\n  watts: {watts}\n{extra}---\n"
    )


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    opened = store_for(f"sqlite:///{tmp_path / 'lamps.db'}")
    await opened.open([LAMPS], [])
    yield opened
    await opened.close()


@pytest.fixture
def lamps(store: Store) -> LampKind:
    return LampKind(store)


@pytest.fixture
def service(lamps: LampKind, store: Store) -> ConfigurationService:
    return ConfigurationService(ConfigurationKinds([lamps]), store)


async def problems(service: ConfigurationService, text: str) -> dict[str, str]:
    with pytest.raises(Invalid) as caught:
        await service.apply(text, SYSTEM)
    return {error.field: error.message for error in caught.value.errors}


# Checking


async def test_every_problem_of_every_document_is_told_with_its_line(
    service: ConfigurationService, lamps: LampKind
) -> None:
    text = """\
apiVersion: penstock/v1alpha1
kind: Lamp
metadata:
  name: kitchen
spec:
  watts: 400
---
# a comment
apiVersion: penstock/v2
kind: Lmap
metadata:
  nmae: hall
---
apiVersion: penstock/v1alpha1
kind: Lamp
metadata: {name: attic, state: gone}
spec:
  watts: much
  labels: [bright, 5]
  shade:
    rings: [1, x]
  colour: red
"""
    assert await problems(service, text) == {
        "documents[0].spec.watts": "line 6: must be 1 to 100",
        "documents[1].metadata.nmae": "line 12: is not a known field",
        "documents[1].metadata.name": "line 11: is required",
        "documents[1].kind": "line 10: 'Lmap' is not a known kind; did you mean Lamp?",
        "documents[2].metadata.state": "line 16: must be present or absent",
        "documents[2].spec.watts": "line 18: must be a whole number, not a string",
        "documents[2].spec.labels[1]": "line 19: must be a string, not a whole number; put it in quotes",
        "documents[2].spec.shade.colour": "line 20: is required",
        "documents[2].spec.shade.rings[1]": "line 21: must be a whole number, not a string",
        "documents[2].spec.colour": "line 22: is not a known field",
    }
    assert await lamps.watts() == {}


async def test_what_has_the_wrong_shape_hides_nothing_else_that_is_wrong(service: ConfigurationService) -> None:
    text = """\
apiVersion: penstock/v2
kind: Lamp
metadata: {name: kitchen, nmae: x}
spec:
  watts: 400
  labels: bright
  colour: red
---
apiVersion: penstock/v1alpha1
kind: Lamp
metadata: {}
spec: {watts: 0}
---
apiVersion: penstock/v1alpha1
kind: Lamp
metadata: {name: attic}
spec: {labels: [a]}
"""
    assert await problems(service, text) == {
        "documents[0].metadata.nmae": "line 3: is not a known field",
        "documents[0].apiVersion": "line 1: must be penstock/v1alpha1",
        "documents[0].spec.labels": "line 6: must be an array, not a string",
        "documents[0].spec.colour": "line 7: is not a known field",
        "documents[0].spec.watts": "line 5: must be 1 to 100",
        "documents[1].metadata.name": "line 11: is required",
        "documents[1].spec.watts": "line 12: must be 1 to 100",
        # Not also that 0, which stands in for it, is too little.
        "documents[2].spec.watts": "line 17: is required",
    }


async def test_a_fault_of_syntax_hides_no_other_document(service: ConfigurationService) -> None:
    text = lamp("hall", 999) + "kind: [Lamp\n---\n" + lamp("attic") + "'never closed\n---\n" + lamp("cellar", 999)
    found = await problems(service, text)
    assert set(found) == {"documents[0].spec.watts", "documents[1]", "documents[3]", "documents[4].spec.watts"}
    assert found["documents[1]"].startswith(("line 8: ", "line 9: "))
    assert found["documents[4].spec.watts"] == "line 24: must be 1 to 100"


async def test_very_many_problems_are_told_in_part(service: ConfigurationService) -> None:
    text = lamp("hall") + "".join(f"  colour{number}: red\n" for number in range(100_000))
    with pytest.raises(Invalid) as caught:
        await service.plan(text, SYSTEM)
    assert len(caught.value.errors) == 1000
    assert caught.value.detail.startswith("1000 problems or more")


async def test_a_wrong_version_is_told(service: ConfigurationService) -> None:
    text = lamp("hall").replace("penstock/v1alpha1", "penstock/v2")
    assert await problems(service, text) == {"documents[0].apiVersion": "line 1: must be penstock/v1alpha1"}


async def test_documents_written_for_another_group_are_taken(service: ConfigurationService, lamps: LampKind) -> None:
    await service.apply(lamp("hall").replace("penstock/", "integration.example.com/"), SYSTEM)
    assert await lamps.watts() == {"hall": 40}


@pytest.mark.parametrize("text", ["", "---\n---\n", "# nothing"])
async def test_a_text_without_documents_is_refused(service: ConfigurationService, text: str) -> None:
    assert await problems(service, text) == {"": "there is no document"}


@pytest.mark.parametrize("text", ["[]", "text", "5"])
async def test_a_document_that_is_no_object_is_refused(service: ConfigurationService, text: str) -> None:
    told = await problems(service, text)
    assert told["documents[0]"].startswith("line 1: must be an object with apiVersion, kind, metadata and spec")


async def test_two_documents_about_one_object_are_refused(service: ConfigurationService, lamps: LampKind) -> None:
    assert await problems(service, lamp("hall") + lamp("HALL", 60)) == {
        "documents[1].metadata.name": "line 11: documents[0] is about the same Lamp"
    }
    assert await lamps.watts() == {}


def test_a_field_name_with_dots_finds_its_line() -> None:
    errors: list[FieldError] = []
    [(_, tree)] = read_trees("a:\n  b.c:\n    d: 1\n  b: 2", errors)
    assert [tree.line_of(path) for path in ("a.b.c.d", "a.b.c", "a.b", "a.x")] == [3, 2, 4, 1]


def test_documents_are_counted_with_the_empty_ones_between_them() -> None:
    errors: list[FieldError] = []
    read_documents("---\n---\nkind: x\n", {}, errors)
    assert {error.field.split(".")[0] for error in errors} == {"documents[1]"}


# Applying


async def test_a_text_creates_changes_keeps_and_removes(service: ConfigurationService, lamps: LampKind) -> None:
    await service.apply(lamp("hall") + lamp("attic") + lamp("cellar"), SYSTEM)
    text = (
        lamp("hall", 60) + lamp("attic") + lamp("garden") + lamp("cellar").replace("  name", "  state: absent\n  name")
    )

    planned = await service.plan(text, SYSTEM)

    assert [(change.document, change.name, change.action) for change in planned] == [
        (0, "hall", "change"),
        (1, "attic", "keep"),
        (2, "garden", "create"),
        (3, "cellar", "remove"),
    ]
    assert (planned[0].before, planned[0].after) == ({"watts": 40}, {"watts": 60})
    assert await lamps.watts() == {"hall": 40, "attic": 40, "cellar": 40}
    lamps.finished.clear()

    await service.apply(text, SYSTEM)

    assert await lamps.watts() == {"hall": 60, "attic": 40, "garden": 40}
    assert lamps.finished == ["hall", "garden", "cellar"]


async def test_removing_what_is_not_there_is_no_error(service: ConfigurationService) -> None:
    text = "apiVersion: penstock/v1alpha1\nkind: Lamp\nmetadata: {name: none, state: absent}\n"
    assert [change.action for change in await service.plan(text, SYSTEM)] == ["keep"]
    await service.apply(text, SYSTEM)


async def test_one_bad_document_keeps_all_from_being_applied(service: ConfigurationService, lamps: LampKind) -> None:
    assert "documents[1].spec.watts" in await problems(service, lamp("hall") + lamp("attic", 999))
    assert await lamps.watts() == {}
    assert lamps.finished == []


async def test_who_loses_a_race_plans_again_from_what_is_there(
    service: ConfigurationService, lamps: LampKind, store: Store
) -> None:
    async def another_was_quicker() -> None:
        lamps.before_commit.clear()
        rival = Lamp(name="hall", watts=75).created(SYSTEM, SystemClock().now())
        await store.commit([Insert(LAMPS, rival.key, rival.e_tag or "", rival, SystemClock().now())])

    lamps.before_commit["hall"] = another_was_quicker
    await service.apply(lamp("attic") + lamp("hall"), SYSTEM)

    assert await lamps.watts() == {"attic": 40, "hall": 40}


async def test_who_loses_a_race_for_something_removed_makes_it_anew(
    service: ConfigurationService, lamps: LampKind, store: Store
) -> None:
    await service.apply(lamp("hall"), SYSTEM)

    async def another_removed_it() -> None:
        lamps.before_commit.clear()
        found = await store.find(LAMPS, "name", "hall")
        assert found is not None
        await store.commit([Delete(LAMPS, found.id, SystemClock().now())])

    lamps.before_commit["hall"] = another_removed_it
    await service.apply(lamp("hall", 60), SYSTEM)

    assert await lamps.watts() == {"hall": 60}


async def test_who_loses_every_race_is_told_and_nothing_is_changed(
    service: ConfigurationService, lamps: LampKind, store: Store
) -> None:
    async def another_is_always_quicker() -> None:
        found = await store.find(LAMPS, "name", "hall")
        now = SystemClock().now()
        if found is not None:
            await store.commit([Delete(LAMPS, found.id, now)])
        else:
            rival = Lamp(name="hall", watts=75).created(SYSTEM, now)
            await store.commit([Insert(LAMPS, rival.key, rival.e_tag or "", rival, now)])

    lamps.before_commit["hall"] = another_is_always_quicker
    with pytest.raises(PenstockError) as caught:
        await service.apply(lamp("hall") + lamp("attic"), SYSTEM)

    assert caught.value.code in ("name-taken", "stale")
    assert "attic" not in await lamps.watts()


async def test_a_name_that_the_kind_finds_taken_is_told_where_it_stands(store: Store) -> None:
    class Jealous(LampKind):
        async def plan(self, *_: object) -> None:  # type: ignore[override]
            raise NameTaken("the name belongs to something else")

    service = ConfigurationService(ConfigurationKinds([Jealous(store)]), store)
    assert await problems(service, lamp("hall")) == {
        "documents[0].metadata.name": "line 4: the name belongs to something else"
    }


def test_kinds_are_described_by_the_schema_of_their_specs(service: ConfigurationService) -> None:
    [described] = service.kinds()
    assert (described.kind, described.description) == ("Lamp", "Lamps of the test bench.")
    assert described.schema["required"] == ["watts"]
    assert described.schema["additionalProperties"] is False
    assert described.schema["$defs"]["Shade"]["properties"]["colour"] == {"type": "string"}
