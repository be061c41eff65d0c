"""Makes endpoints from uris and their parameters."""

from collections.abc import Iterable
from typing import Any, Protocol

from penstock.flow.component import Component, Consumer, Producer
from penstock.flow.element import Element
from penstock.flow.family import Family
from penstock.flow.parsing.document import Mapping, Node, Scalar
from penstock.flow.parsing.element_use import ElementUse, Given
from penstock.flow.parsing.endpoint_uri import EndpointUri
from penstock.flow.parsing.problem import Unknown
from penstock.flow.registry import Registry

ROLES: dict[type[Component], str] = {Consumer: "from", Producer: "to"}


class ElementBuilder(Protocol):
    """What makes the elements of the document; see Builder."""

    def problem(self, node: Node, element: str, message: str, unknown: Unknown | None = None) -> None: ...
    def unknown(self, node: Node, element: str, unknown: Unknown, known: Iterable[str], prefix: str = "") -> None: ...
    def element(self, kind: type[Element], label: str, at: Node, given: Given) -> Any: ...


class EndpointBuilder:
    """Makes the endpoints of one document; None stands for one that is wrong, which the builder has told."""

    def __init__(self, registry: Registry, builder: ElementBuilder) -> None:
        self._registry = registry
        self._builder = builder

    def of_uri(self, uri: str, role: type[Component], at: Node, element: str) -> Any:
        return self._made(Scalar(uri, False, at.line, at.column), None, element, role)

    def inline(self, role: type[Component], use: ElementUse) -> Any:
        """The endpoint that `uri` and `parameters` describe."""
        _, uri = use.given.pop("uri", (None, None))
        _, parameters = use.given.pop("parameters", (None, None))
        if not isinstance(uri, Scalar) or uri.null:
            self._builder.problem(uri or use.at, use.label, "needs a `uri`, as in `uri: timer:tick`")
            return None
        return self._made(uri, parameters, use.label, role)

    def own(self, role: type[Component], label: str, node: Node) -> Any:
        if not isinstance(node, Scalar) or node.null:
            self._builder.problem(node, label, "must be a uri, like `direct:failed`")
            return None
        return self._made(node, None, label, role)

    def _made(self, uri: Scalar, parameters: Node | None, element: str, role: type[Component]) -> Any:
        parsed = EndpointUri.parse(uri.text)
        kind = self._registry.find(Family.COMPONENT, parsed.scheme)
        if kind is None or not issubclass(kind, Component):
            known = self._registry.names(Family.COMPONENT)
            self._builder.unknown(uri, element, Unknown(Family.COMPONENT, parsed.scheme), known, "component ")
            return None
        if not issubclass(kind, role):
            unknown = Unknown(Family.COMPONENT, f"{parsed.scheme} in {ROLES[role]}")
            message = f"component '{parsed.scheme}' cannot be used in `{ROLES[role]}`"
            self._builder.problem(uri, element, message, unknown)
            return None
        return self._builder.element(kind, parsed.scheme, uri, self._options(parsed, uri, parameters, kind))

    def _options(self, uri: EndpointUri, at: Scalar, parameters: Node | None, kind: type[Component]) -> Given:
        def scalar(text: str) -> Scalar:
            return Scalar(text, False, at.line, at.column)

        given: Given = {name: (at, scalar(value)) for name, value in uri.query}
        if uri.path:
            given[kind.path] = (at, scalar(uri.path))
        if parameters is None or (isinstance(parameters, Scalar) and parameters.null):
            return given
        if not isinstance(parameters, Mapping):
            self._builder.problem(parameters, uri.scheme, "`parameters` must be a mapping of options")
            return given
        for name, value in parameters.entries:
            if name.text in given:
                self._builder.problem(
                    name, f"{uri.scheme}: {name.text}", "is given twice, in the uri and in `parameters`"
                )
            given[name.text] = (name, value)
        return given
