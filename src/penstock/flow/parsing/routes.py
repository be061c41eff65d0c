"""Makes a flow's routes from the entries of its document."""

from collections.abc import Iterator

from penstock.flow.element import Element
from penstock.flow.failures.error_handling import ErrorHandling
from penstock.flow.failures.on_exception import ErrorHandler, OnException
from penstock.flow.parsing.builder import Builder
from penstock.flow.parsing.document import Node
from penstock.flow.parsing.route_entry import From, RouteConfiguration, RouteEntry
from penstock.flow.route import Route


class Routes:
    """Takes entries in the order of the document; what holds for all routes must stand before the first one."""

    def __init__(self, flow: str, builder: Builder) -> None:
        self._flow = flow
        self._builder = builder
        self._entries: list[tuple[Node, str, RouteEntry]] = []
        self._ids: set[str] = set()
        self._rules: list[OnException] = []
        self._handler: ErrorHandler | None = None
        self._configurations: list[RouteConfiguration] = []

    def add(self, at: Node, entry: Element | None) -> None:
        """at: where the entry's name stands. entry: None for one that is wrong."""
        if isinstance(entry, From):
            entry = RouteEntry(from_=entry, id=entry.id)
        if isinstance(entry, RouteEntry):
            self._entries.append((at, self._id(at, entry.id or entry.from_.id), entry))
        elif isinstance(entry, OnException):
            self._before_routes(at, entry)
            self._rules.append(entry)
        elif isinstance(entry, ErrorHandler):
            self._before_routes(at, entry)
            self._handler = entry
        elif isinstance(entry, RouteConfiguration):
            self._configurations.append(entry)

    def made(self) -> tuple[Route, ...]:
        return tuple(self._route(at, route_id, entry) for at, route_id, entry in self._entries)

    def _before_routes(self, at: Node, entry: Element) -> None:
        if self._entries:
            self._builder.problem(at, entry.element, "must stand before the first route")

    def _route(self, at: Node, route_id: str, entry: RouteEntry) -> Route:
        configurations = list(self._configured(at, entry))
        rules = (*self._rules, *(rule for each in configurations for rule in each.on_exception))
        inherited = [each.error_handler for each in configurations if each.error_handler is not None]
        handler = entry.error_handler or self._handler or next(iter(inherited), None)
        return Route(
            route_id,
            entry.from_.endpoint,
            entry.from_.steps,
            _handling(rules, handler),
            tuple(part for part in (*rules, handler) if part is not None),
            _asks_for_original(rules, handler),
        )

    def _configured(self, at: Node, entry: RouteEntry) -> Iterator[RouteConfiguration]:
        """The configurations that hold for the route: those that it names, else those without a name."""
        names = [name.strip() for name in entry.route_configuration_id.split(",") if name.strip()]
        known = {each.id for each in self._configurations}
        for name in names:
            if name not in known:
                self._builder.problem(at, "route: routeConfigurationId", f"'{name}' is not in this document")
        wanted = set(names) or {""}
        return (each for each in self._configurations if each.id in wanted)

    def _id(self, at: Node, given: str) -> str:
        if given in self._ids:
            self._builder.problem(at, "route: id", f"'{given}' is given twice")
        route_id = given or self._free_id()
        self._ids.add(route_id)
        return route_id

    def _free_id(self) -> str:
        count = len(self._ids) + 1
        return self._flow if count == 1 else f"{self._flow}-{count}"


def _handling(rules: tuple[OnException, ...], handler: ErrorHandler | None) -> ErrorHandling | None:
    if handler is not None and handler.no_error_handler is not None:
        return None
    return ErrorHandling(rules, handler)


def _asks_for_original(rules: tuple[OnException, ...], handler: ErrorHandler | None) -> bool:
    channel = handler.dead_letter_channel if handler is not None else None
    if channel is not None and (channel.use_original_message or channel.use_original_body):
        return True
    return any(rule.use_original_message or rule.use_original_body for rule in rules)
