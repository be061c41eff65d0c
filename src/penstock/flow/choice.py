"""Which engine runs a flow: the native one when it knows every element, else Camel."""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Any

import msgspec

from penstock.flow.camel.camel_document import CamelDocument
from penstock.flow.camel.installation import INSTALL_COMMAND
from penstock.flow.definition import FlowDefinition
from penstock.flow.family import Family
from penstock.flow.parsing.parser import parse_flow
from penstock.flow.parsing.problem import InvalidFlow, Problem
from penstock.kernel.errors import Invalid
from penstock.kernel.names import name_key

ENGINE_VARIABLE = "penstock.engine"
"""The variable of a flow that names its engine."""

_NO_VARIABLES: Mapping[str, str] = MappingProxyType({})
_NATIVE_ONLY = frozenset({(Family.STEP, "python"), (Family.COMPONENT, "webjob")})
_SHOWN = 10


class EngineKind(StrEnum):
    """The value is what `penstock.engine` says."""

    NATIVE = "native"
    CAMEL = "camel"


class Choice(msgspec.Struct, frozen=True):
    """definition: to be started; for Camel it has no routes, Camel reads the text.

    reasons: why it is Camel, like `line 4: component 'kafka'`; empty when it was asked for.
    """

    engine: EngineKind
    definition: FlowDefinition
    reasons: tuple[str, ...] = ()

    @property
    def without_camel(self) -> str:
        """What to tell where Camel is not installed."""
        shown = self.reasons[:_SHOWN]
        more = f" and {len(self.reasons) - _SHOWN} more" if len(self.reasons) > _SHOWN else ""
        why = f"for {', '.join(shown)}{more}" if shown else f"because {ENGINE_VARIABLE} asks for it"
        return f"needs the engine Camel {why}; install it on the agent with `{INSTALL_COMMAND}`"


def choose(
    name: str,
    version: str,
    source: str,
    forced: str | None = None,
    variables: Mapping[str, str] = _NO_VARIABLES,
) -> Choice:
    """The engine of a flow. forced: the value of `penstock.engine`. variables: as parse_flow takes them.

    Raises InvalidFlow for what no engine, or not the forced one, can run; Invalid for another value of `forced`.
    """
    kind = _kind(forced)
    try:
        native = parse_flow(name, version, source, variables)
    except InvalidFlow as error:
        if kind is EngineKind.NATIVE:
            raise
        return _camel(FlowDefinition(name, version, source, ()), error.problems, forced=kind is EngineKind.CAMEL)
    if kind is EngineKind.CAMEL:
        return _camel(msgspec.structs.replace(native, routes=(), needs=frozenset()), (), forced=True)
    return Choice(EngineKind.NATIVE, native)


def forced_engine(variables: Mapping[str, Any] | None) -> str | None:
    """The value of `penstock.engine` among a flow's own variables; names are compared without case."""
    values = (str(value) for name, value in (variables or {}).items() if name_key(name) == ENGINE_VARIABLE)
    return next(values, None)


def _kind(forced: str | None) -> EngineKind | None:
    if not forced:
        return None
    try:
        return EngineKind(forced.strip().lower())
    except ValueError:
        allowed = " or ".join(kind.value for kind in EngineKind)
        raise Invalid.one(f"Variables[{ENGINE_VARIABLE}]", f"must be {allowed}") from None


def _camel(definition: FlowDefinition, native: tuple[Problem, ...], *, forced: bool) -> Choice:
    """native: what the native engine finds wrong."""
    unknown = [problem for problem in native if problem.unknown is not None]
    if native and not unknown and not forced:
        raise InvalidFlow(native)  # it knows all that is written, and how it is wrong
    camel = CamelDocument.read(definition.source).problems
    if camel:
        raise InvalidFlow(_best(native, camel))
    return Choice(EngineKind.CAMEL, definition, tuple(dict.fromkeys(map(_reason, unknown))))


def _best(native: tuple[Problem, ...], camel: tuple[Problem, ...]) -> list[Problem]:
    """What Camel finds wrong too; in the native engine's words where it says more than that it lacks something."""
    said = {(problem.line, problem.column): problem for problem in native if problem.unknown is None}
    return [_told(said.get((problem.line, problem.column), problem)) for problem in camel]


def _told(problem: Problem) -> Problem:
    unknown = problem.unknown
    if unknown is None or (unknown.family, unknown.name) not in _NATIVE_ONLY:
        return problem
    message = f"'{unknown.name}' runs on the native engine only, and something else in the flow on Camel only"
    return msgspec.structs.replace(problem, message=message)


def _reason(problem: Problem) -> str:
    assert problem.unknown is not None
    of = f" of '{problem.unknown.of}'" if problem.unknown.of else ""
    return f"line {problem.line}: {problem.unknown.family} '{problem.unknown.name}'{of}"
