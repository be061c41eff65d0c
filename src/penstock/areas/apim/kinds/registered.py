"""What the kinds of published APIs share: documents of one text are checked together."""

from collections.abc import Sequence
from typing import Any, Generic, TypeVar

import msgspec

from penstock.areas.apim.register import Register, Registers
from penstock.kernel.entity import Entity
from penstock.kernel.errors import FieldError, Invalid, NameTaken
from penstock.kernel.validation import from_builtins
from penstock.kernel.wire import Map, encode_hook, wire_name
from penstock.resource.kind import Plan, S, Spec
from penstock.resource.resource_kind import PlanningService, ResourceKind

E = TypeVar("E", bound=Entity)
T = TypeVar("T", bound=Spec)

_OBJECTS = ("Authentication", "Connection", "Parameters")
_FREE = frozenset(("Headers", "OpenApi"))
"""Parameters whose inner names are the user's."""


class RegisteredKind(ResourceKind[S, E], Generic[S, E]):
    """Of something that the register has."""

    def __init__(self, service: PlanningService[E], registers: Registers) -> None:
        super().__init__(service)
        self._registers = registers

    def placed(self, error: Invalid) -> Invalid:
        return super().placed(parameters_in_document(error))

    async def conflicts(self, own: Sequence[Plan], text: Sequence[Plan]) -> Sequence[Sequence[FieldError]]:
        register = await self._registers.current()
        after = register.after(write for plan in text for write in plan.writes)
        return [self._errors(plan, register, after) for plan in own]

    def _errors(self, plan: Plan, register: Register, after: Register) -> Sequence[FieldError]:
        try:
            register.check(plan.writes, after)
        except Invalid as error:
            return self.placed(error).errors
        except NameTaken as error:
            return [FieldError("metadata.name", error.detail)]
        return ()


def parameters_of(spec: Spec) -> Map:
    """The parts of a document as the operations take them; what is left out is left out."""
    given = {name: getattr(spec, name) for name in spec.__struct_fields__}
    return {wire_name(name): _plain(value) for name, value in given.items() if value is not None}


def spec_of(parameters: Map, type: type[T]) -> T:
    """Parameters, as stored, as a part of a document."""
    return from_builtins(_cased(parameters), type)


def parameters_in_document(error: Invalid) -> Invalid:
    """The error with the fields of inner objects called as documents call them."""

    def placed(field: str) -> str:
        first, *rest = field.split(".")
        if first not in _OBJECTS or not rest:
            return field
        free = 1 if rest[0] in _FREE else len(rest)
        return ".".join((first, *(_lowered(each) for each in rest[:free]), *rest[free:]))

    return Invalid(msgspec.structs.replace(each, field=placed(each.field)) for each in error.errors)


def _plain(value: Any) -> Any:
    return parameters_of(value) if isinstance(value, Spec) else msgspec.to_builtins(value, enc_hook=encode_hook)


def _cased(parameters: Map) -> Map:
    return {
        _lowered(name): _cased(value) if isinstance(value, dict) and name not in _FREE else value
        for name, value in parameters.items()
    }


def _lowered(name: str) -> str:
    return name[:1].lower() + name[1:]
