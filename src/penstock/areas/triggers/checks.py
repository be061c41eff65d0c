"""What is wrong with a trigger, in the fields of its form."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol
from uuid import UUID

from penstock.engine.documents.parameters import Given, Parameter, check_values
from penstock.kernel.errors import FieldError, Invalid, NotFound
from penstock.resource.ports.runs import RunParameter
from penstock.resource.ports.scripts import KnownScript, Scripts

_LONGEST_NAME = 128


class NamedValue(Protocol):
    """A parameter's value, as a text of JSON."""

    @property
    def name(self) -> str | None: ...
    @property
    def value_json(self) -> str | None: ...


async def checked_script(
    scripts: Scripts,
    id: UUID,
    field: str,
    given: Sequence[NamedValue] | None,
    errors: Sequence[FieldError],
    *,
    later: Collection[int] = (),
    complete: bool = True,
) -> KnownScript:
    """The script that a trigger names in `field`; its values are checked as `parameter_errors` says.

    errors: what else is wrong. Raises Invalid with everything that is.
    """
    try:
        script = await scripts.known(id)
    except NotFound as missing:
        raise Invalid([*errors, FieldError(field, missing.detail)]) from None
    all_errors = [*errors, *parameter_errors(script, given or (), later=later, complete=complete)]
    if all_errors:
        raise Invalid(all_errors)
    return script


def own_errors(given: UUID | None, id: UUID | None, name: str | None) -> list[FieldError]:
    """What is wrong with the Id of a body, where the path has one, and with its Name."""
    errors = []
    if id is not None and given not in (None, id):
        errors.append(FieldError("Id", "must be the id of the path, or absent"))
    if name is not None and (not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable()):
        errors.append(FieldError("Name", f"must be 1 to {_LONGEST_NAME} printable characters, or absent"))
    return errors


def type_errors(given: str | None, *known: str) -> list[FieldError]:
    """What is wrong with a TriggerType."""
    if given in (None, "", *known):
        return []
    return [FieldError("TriggerType", f"must be {' or '.join(known)}, or absent")]


def parameter_errors(
    script: KnownScript,
    given: Sequence[NamedValue],
    *,
    later: Collection[int] = (),
    complete: bool = True,
) -> list[FieldError]:
    """What is wrong with the values of a trigger.

    later: indices of those whose value is only known when it runs. complete: whether all that is required must be
    among them.
    """
    errors = list(_name_errors(script, given, later))
    constants = [
        Given(each.name, "null" if each.value_json is None else each.value_json, None, f"Parameters[{index}].ValueJson")
        for index, each in enumerate(given)
        if each.name and index not in later
    ]
    known_later = {given[index].name for index in later}
    declared = [
        Parameter(each.name, each.type, None, each.required and complete and each.name not in known_later)
        for each in script.parameters
    ]
    try:
        check_values(declared, constants)
    except Invalid as invalid:
        errors += invalid.errors
    return errors


def run_parameters(given: Iterable[NamedValue] | None) -> list[RunParameter]:
    """The values as runs take them."""
    return [RunParameter(name=each.name, value_json=each.value_json) for each in given or ()]


def _name_errors(script: KnownScript, given: Sequence[NamedValue], later: Collection[int]) -> Iterable[FieldError]:
    known = {each.name for each in script.parameters}
    seen: set[str] = set()
    for index, each in enumerate(given):
        field = f"Parameters[{index}].Name"
        if not each.name:
            yield FieldError(field, "is required")
        elif each.name in seen:
            yield FieldError(field, f"'{each.name}' is given twice")
        elif index in later and each.name not in known:
            yield FieldError(field, f"'{each.name}' is no parameter of '{script.name}'")
        seen.add(each.name or "")
