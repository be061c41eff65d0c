"""Makes elements from the nodes of a document, each option by its declared type."""

import collections.abc
from collections.abc import Iterable
from typing import Any

from penstock.flow.component import Component, Consumer, Producer
from penstock.flow.document import Mapping, Node, Scalar, Sequence
from penstock.flow.element import Element
from penstock.flow.endpoint_uri import EndpointUri
from penstock.flow.language import Language
from penstock.flow.option import NeedsVariables, Option, options_of
from penstock.flow.problem import Problem, Problems, unknown
from penstock.flow.registry import Family, Registry
from penstock.flow.step import Step

Given = dict[str, tuple[Scalar, Node]]
"""The options as written: name -> where the name stands, and the value."""

_ROLES: dict[type[Component], str] = {Consumer: "from", Producer: "to"}


class Builder:
    """Builds the elements of one document, and adds to `problems` whatever is wrong.

    variables: values of the variables that options other than texts depend on. needed: those that were missing;
    an element that depends on one is not built.
    """

    def __init__(self, registry: Registry, problems: Problems, variables: collections.abc.Mapping[str, str]) -> None:
        self._registry = registry
        self._problems = problems
        self._variables = variables
        self.needed: frozenset[str] = frozenset()

    def problem(self, node: Node, element: str, message: str) -> None:
        self._problems.append(Problem(node.line, node.column, element, message))

    def steps(self, node: Node, element: str) -> tuple[Step, ...]:
        """A list of steps; disabled ones are checked and left out."""
        if not isinstance(node, Sequence):
            self.problem(node, element, "must be a list of steps, each beginning with `- `")
            return ()
        steps = [self.step(item) for item in node.items]
        return tuple(step for step in steps if step is not None and not step.disabled)

    def step(self, node: Node) -> Step | None:
        entry = self._single(node, "step", Family.STEP)
        if entry is None:
            return None
        name, value = entry
        kind = self._registry.find(Family.STEP, name.text)
        if kind is None:
            self.problem(name, "step", unknown(name.text, self._registry.names(Family.STEP)))
            return None
        step: Step | None = self._element(kind, name.text, name, self._given(kind, name.text, value))
        return step

    def language(self, node: Node, element: str) -> Language | None:
        """An expression given as `{LANGUAGE: ...}`."""
        entry = self._single(node, element, Family.LANGUAGE)
        return self._language(*entry, element) if entry is not None else None

    def endpoint(self, given: Given, node: Node, element: str, role: type[Component]) -> Any:
        """The endpoint that `uri` and `parameters` describe, taken out of `given`."""
        _, uri = given.pop("uri", (None, None))
        _, parameters = given.pop("parameters", (None, None))
        if not isinstance(uri, Scalar) or uri.null:
            self.problem(uri or node, element, "needs a `uri`, as in `uri: timer:tick`")
            return None
        parsed = EndpointUri.parse(uri.text)
        kind = self._registry.find(Family.COMPONENT, parsed.scheme)
        if kind is None or not issubclass(kind, Component):
            known = self._registry.names(Family.COMPONENT)
            self.problem(uri, element, f"component {unknown(parsed.scheme, known)}")
            return None
        if not issubclass(kind, role):
            self.problem(uri, element, f"component '{parsed.scheme}' cannot be used in `{_ROLES[role]}`")
            return None
        options = self._endpoint_options(parsed, uri, parameters, kind)
        return self._element(kind, parsed.scheme, uri, options)

    def _endpoint_options(self, uri: EndpointUri, at: Scalar, parameters: Node | None, kind: type[Component]) -> Given:
        def scalar(text: str) -> Scalar:
            return Scalar(text, False, at.line, at.column)

        given: Given = {name: (at, scalar(value)) for name, value in uri.query}
        if uri.path:
            given[kind.path] = (at, scalar(uri.path))
        if parameters is None or (isinstance(parameters, Scalar) and parameters.null):
            return given
        if not isinstance(parameters, Mapping):
            self.problem(parameters, uri.scheme, "`parameters` must be a mapping of options")
            return given
        for name, value in parameters.entries:
            if name.text in given:
                self.problem(name, f"{uri.scheme}: {name.text}", "is given twice, in the uri and in `parameters`")
            given[name.text] = (name, value)
        return given

    def _single(self, node: Node, element: str, family: Family) -> tuple[Scalar, Node] | None:
        """The one entry of a mapping like `{log: ...}`; a bare name counts as an element without options."""
        if isinstance(node, Mapping) and len(node.entries) == 1:
            return node.entries[0]
        if isinstance(node, Scalar) and not node.null and family is Family.STEP:
            return node, Mapping(node.line, node.column)
        known = ", ".join(self._registry.names(family))
        self.problem(node, element, f"must be a mapping with exactly one of: {known}")
        return None

    def _language(self, name: Scalar, value: Node, element: str) -> Language | None:
        kind = self._registry.find(Family.LANGUAGE, name.text)
        if kind is None:
            known = self._registry.names(Family.LANGUAGE)
            self.problem(name, element, f"language {unknown(name.text, known)}")
            return None
        label = f"{element}: {name.text}"
        language: Language | None = self._element(kind, label, name, self._given(kind, label, value))
        return language

    def _given(self, kind: type[Element], label: str, node: Node) -> Given:
        if isinstance(node, Mapping):
            return {name.text: (name, value) for name, value in node.entries}
        if isinstance(node, Scalar) and node.null:
            return {}
        if isinstance(node, Scalar) and kind.shorthand:
            return {kind.shorthand: (node, node)}
        self.problem(node, label, "must be a mapping of options")
        return {}

    def _element(self, kind: type[Element], label: str, at: Node, given: Given) -> Any:
        """The element, or None when an option is wrong. `given` is used up."""
        before = len(self._problems)
        options = options_of(kind)
        values: dict[str, object] = {}
        complete = True
        for option in options:
            try:
                value = self._value(option, label, at, given)
            except NeedsVariables as needs:
                self.needed |= needs.names
                complete = False
                continue
            if value is not None:
                values[option.attribute] = value
        for name, (position, _) in given.items():
            self.problem(position, label, f"option {unknown(name, self._names(options))}")
        return kind(**values) if complete and len(self._problems) == before else None

    def _names(self, options: Iterable[Option]) -> list[str]:
        """The names that may be written for the options."""
        names: list[str] = []
        for option in options:
            if option.kind is Producer:
                names += ["uri", "parameters"]
            elif option.kind is Language:
                names += ["expression", *self._registry.names(Family.LANGUAGE)]
            else:
                names.append(option.name)
        return names

    def _value(self, option: Option, label: str, at: Node, given: Given) -> object | None:
        """The option's value; None when it is absent, or wrong and told about. Raises NeedsVariables."""
        if option.kind is Producer:
            endpoint: object = self.endpoint(given, at, label, Producer)
            return endpoint
        if option.kind is Language:
            return self._expression(label, at, given)
        _, node = given.pop(option.name, (None, None))
        if node is None:
            if option.required:
                self.problem(at, label, f"option '{option.name}' is missing")
            return None
        if option.is_list_of(Step):
            return self.steps(node, f"{label}: {option.name}")
        try:
            value: object = option.read(node, self._variables)
        except ValueError as error:
            self.problem(node, f"{label}: {option.name}", str(error))
            return None
        return value

    def _expression(self, label: str, at: Node, given: Given) -> Language | None:
        """The expression, from `expression: {LANGUAGE: ...}` or `LANGUAGE: ...` beside the other options."""
        _, node = given.pop("expression", (None, None))
        if node is not None:
            return self.language(node, label)
        languages = self._registry.names(Family.LANGUAGE)
        found = [given.pop(name) for name in languages if name in given]
        if len(found) != 1:
            self.problem(at, label, f"needs one expression, in one of: {', '.join(languages)}")
            return None
        return self._language(*found[0], label)
