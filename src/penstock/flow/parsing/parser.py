"""Reads flows written in Camel's YAML DSL."""

from collections.abc import Mapping as MappingType
from types import MappingProxyType

from penstock.flow.definition import FlowDefinition
from penstock.flow.element import Element
from penstock.flow.failures.on_exception import ErrorHandler, OnException
from penstock.flow.family import Family
from penstock.flow.parsing.builder import Builder
from penstock.flow.parsing.document import Mapping, Node, Scalar, Sequence, read_document
from penstock.flow.parsing.problem import InvalidFlow, Problem, Problems, Unknown
from penstock.flow.parsing.route_entry import From, RouteConfiguration, RouteEntry
from penstock.flow.parsing.routes import Routes
from penstock.flow.registry import registry
from penstock.flow.route import Route

_NO_VARIABLES: MappingType[str, str] = MappingProxyType({})
_FORM = "must be a list of routes: `- route: {from: ...}` or `- from: ...`"

ENTRIES: dict[str, type[Element]] = {
    kind.element: kind for kind in (RouteEntry, From, OnException, ErrorHandler, RouteConfiguration)
}
"""What may stand at the top of a document."""


def parse_flow(
    name: str, version: str, source: str, variables: MappingType[str, str] = _NO_VARIABLES
) -> FlowDefinition:
    """The flow in `source`, a YAML document. Raises InvalidFlow with everything that is wrong.

    name: the flow's; routes without an id are called after it. variables: values for the options that must be
    known before the flow can start; without them the definition names what it needs and has no routes.
    """
    problems: Problems = []
    builder = Builder(registry(), problems, variables)
    root = read_document(source, problems)
    routes: tuple[Route, ...] = ()
    if root is not None:
        routes = _read(root, name, builder)
        if not routes and not problems and not builder.needed:
            problems.append(Problem(root.line, root.column, "document", _FORM))
    if problems:
        raise InvalidFlow(problems)
    return FlowDefinition(name, version, source, () if builder.needed else routes, builder.needed)


def _read(root: Node, flow: str, builder: Builder) -> tuple[Route, ...]:
    if not isinstance(root, Sequence):
        builder.problem(root, "document", _FORM)
        return ()
    routes = Routes(flow, builder)
    for item in root.items:
        entry = _entry(item, builder)
        if entry is not None:
            name, element = entry
            routes.add(name, element)
    return routes.made()


def _entry(node: Node, builder: Builder) -> tuple[Scalar, Element | None] | None:
    """One entry of the list, and where its name stands; None when it is none, the element None when it is wrong."""
    if not isinstance(node, Mapping) or len(node.entries) != 1:
        builder.problem(node, "document", _FORM)
        return None
    name, value = node.entries[0]
    kind = ENTRIES.get(name.text)
    if kind is None:
        builder.unknown(name, "document", Unknown(Family.ROUTE_OPTION, name.text, "document"), ENTRIES)
        return None
    return name, builder.part(kind, name.text, name, value)
