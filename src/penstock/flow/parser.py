"""Reads flows written in Camel's YAML DSL."""

from collections.abc import Mapping as MappingType
from types import MappingProxyType

from penstock.flow.builder import Builder, Given
from penstock.flow.component import Consumer
from penstock.flow.definition import FlowDefinition
from penstock.flow.document import Mapping, Node, Scalar, Sequence, read_document
from penstock.flow.problem import InvalidFlow, Problem, Problems, unknown
from penstock.flow.registry import registry
from penstock.flow.route import Route

_NO_VARIABLES: MappingType[str, str] = MappingProxyType({})
_FORM = "must be a list of routes: `- route: {from: ...}` or `- from: ...`"
_ROUTE_OPTIONS = ("id", "description", "note", "from")
_FROM_OPTIONS = ("id", "description", "note", "uri", "parameters", "steps")


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
        routes = _Routes(name, builder).read(root)
        if not routes and not problems and not builder.needed:
            problems.append(Problem(root.line, root.column, "document", _FORM))
    if problems:
        raise InvalidFlow(problems)
    return FlowDefinition(name, version, source, () if builder.needed else routes, builder.needed)


class _Routes:
    def __init__(self, flow: str, builder: Builder) -> None:
        self._flow = flow
        self._builder = builder
        self._ids: set[str] = set()

    def read(self, root: Node) -> tuple[Route, ...]:
        if not isinstance(root, Sequence):
            self._builder.problem(root, "document", _FORM)
            return ()
        routes = [self._entry(item) for item in root.items]
        return tuple(route for route in routes if route is not None)

    def _entry(self, node: Node) -> Route | None:
        if not isinstance(node, Mapping) or len(node.entries) != 1:
            self._builder.problem(node, "document", _FORM)
            return None
        name, value = node.entries[0]
        if name.text == "from":
            return self._route(name, {"from": (name, value)})
        if name.text == "route":
            return self._route(name, self._options(name, value))
        self._builder.problem(name, "document", unknown(name.text, ("route", "from")))
        return None

    def _options(self, name: Scalar, node: Node) -> Given:
        if not isinstance(node, Mapping):
            self._builder.problem(node, name.text, "must be a mapping of options")
            return {}
        return {key.text: (key, value) for key, value in node.entries}

    def _route(self, at: Scalar, given: Given) -> Route | None:
        for key, _ in given.values():
            if key.text not in _ROUTE_OPTIONS:
                self._builder.problem(key, "route", f"option {unknown(key.text, _ROUTE_OPTIONS)}")
        route_id = self._id(given)
        name, start = given.get("from", (at, None))
        if start is None:
            self._builder.problem(at, "route", "option 'from' is missing")
            return None
        inner = self._options(name, start)
        consumer = self._builder.endpoint(inner, name, "from", Consumer)
        _, steps_node = inner.pop("steps", (None, None))
        if steps_node is None:
            self._builder.problem(name, "from", "option 'steps' is missing")
        steps = self._builder.steps(steps_node, "from: steps") if steps_node is not None else ()
        for key, _ in inner.values():
            if key.text not in _FROM_OPTIONS:
                self._builder.problem(key, "from", f"option {unknown(key.text, _FROM_OPTIONS)}")
        return Route(route_id, consumer, steps) if consumer is not None else None

    def _id(self, given: Given) -> str:
        _, node = given.get("id", (None, None))
        route_id = node.text if isinstance(node, Scalar) and not node.null else self._free_id()
        if node is not None and route_id in self._ids:
            self._builder.problem(node, "route: id", f"'{route_id}' is given twice")
        self._ids.add(route_id)
        return route_id

    def _free_id(self) -> str:
        count = len(self._ids) + 1
        return self._flow if count == 1 else f"{self._flow}-{count}"
