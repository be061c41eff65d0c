"""Makes elements from the nodes of a document, each option by its declared type."""

import collections.abc
from collections.abc import Iterable
from typing import Any

from penstock.flow.component import Component
from penstock.flow.dataformat import DataFormat
from penstock.flow.element import Element
from penstock.flow.family import Family
from penstock.flow.language import Language, Use
from penstock.flow.parsing.document import Mapping, Node, Scalar, Sequence
from penstock.flow.parsing.element_use import ElementUse, Given
from penstock.flow.parsing.endpoint_builder import ROLES, EndpointBuilder
from penstock.flow.parsing.extra_options import ExtraOptions
from penstock.flow.parsing.option import NeedsVariables, Option, options_of
from penstock.flow.parsing.problem import Problem, Problems, Unknown, UnknownName
from penstock.flow.registry import Registry
from penstock.flow.step import Step
from penstock.flow.text import Text


class Builder:
    """Builds the elements of one document, and adds to `problems` whatever is wrong.

    variables: values of the variables that options other than texts depend on. needed: those that were missing;
    an element that depends on one is not built.
    """

    def __init__(self, registry: Registry, problems: Problems, variables: collections.abc.Mapping[str, str]) -> None:
        self._registry = registry
        self._problems = problems
        self._variables = variables
        self._endpoints = EndpointBuilder(registry, self)
        self.needed: frozenset[str] = frozenset()

    def problem(self, node: Node, element: str, message: str, unknown: Unknown | None = None) -> None:
        self._problems.append(Problem(node.line, node.column, element, message, unknown))

    def part(self, kind: type[Element], label: str, at: Node, node: Node) -> Any:
        """An element of a known kind from its options; None when one is wrong."""
        return self.element(kind, label, at, self._given(kind, label, node))

    def element(self, kind: type[Element], label: str, at: Node, given: Given) -> Any:
        """The element, or None when an option is wrong. `given` is used up."""
        before = len(self._problems)
        use = ElementUse(kind, label, at, given)
        values: dict[str, object] = {}
        complete = True
        for option in options_of(kind):
            try:
                value = self._value(option, use)
            except NeedsVariables as needs:
                self.needed |= needs.names
                complete = False
                continue
            if value is not None:
                values[option.attribute] = value
            elif option.required:
                complete = False
        self._leftover(use)
        return self._verified(kind(**values), use) if complete and len(self._problems) == before else None

    def endpoint(self, uri: str, role: type[Component], at: Node, element: str) -> Any:
        """The endpoint that a uri describes; None when it is wrong."""
        return self._endpoints.of_uri(uri, role, at, element)

    def unknown(self, node: Node, element: str, unknown: Unknown, known: Iterable[str], prefix: str = "") -> None:
        """Adds the problem of a name that is not known."""
        self.problem(node, element, prefix + unknown.sentence(known), unknown)

    def _steps(self, node: Node, element: str) -> tuple[Step, ...]:
        """A list of steps; disabled ones are checked and left out."""
        if not isinstance(node, Sequence):
            self.problem(node, element, "must be a list of steps, each beginning with `- `")
            return ()
        steps = [self._step(item) for item in node.items]
        return tuple(step for step in steps if step is not None and not step.disabled)

    def _step(self, node: Node) -> Step | None:
        if isinstance(node, Scalar) and not node.null:  # a bare name is a step without options
            node = Mapping(node.line, node.column, [(node, Mapping(node.line, node.column))])
        step: Step | None = self._chosen(node, Family.STEP, "step")
        return step

    def _chosen(self, node: Node, family: Family, element: str, use: Use = Use.VALUE) -> Any:
        """The element that the one entry of a mapping names, as in `{log: ...}`. use: of an expression."""
        if not isinstance(node, Mapping) or len(node.entries) != 1:
            known = ", ".join(self._registry.names(family))
            self.problem(node, element, f"must be a mapping with exactly one of: {known}")
            return None
        name, value = node.entries[0]
        kind = self._registry.find(family, name.text)
        if kind is None:
            prefix = "" if family is Family.STEP else f"{family} "
            self.unknown(name, element, Unknown(family, name.text), self._registry.names(family), prefix)
            return None
        label = name.text if family is Family.STEP else f"{element}: {name.text}"
        chosen: Element | None = self.part(kind, label, name, value)
        return self._checked(chosen, use, label, value) if isinstance(chosen, Language) else chosen

    def _given(self, kind: type[Element], label: str, node: Node) -> Given:
        if isinstance(node, Mapping):
            return {name.text: (name, value) for name, value in node.entries}
        if isinstance(node, Scalar) and node.null:
            return {}
        if not isinstance(node, Mapping) and kind.shorthand:
            name = Scalar(kind.shorthand, False, node.line, node.column)
            return {kind.shorthand: (name, node)}
        self.problem(node, label, "must be a mapping of options")
        return {}

    def _verified(self, element: Element, use: ElementUse) -> Element | None:
        try:
            element.verify()
        except UnknownName as error:
            self.problem(use.at, use.label, str(error), error.unknown)
            return None
        except ValueError as error:
            self.problem(use.at, use.label, str(error))
            return None
        return element

    def _leftover(self, use: ElementUse) -> None:
        """Tells of each option that the element does not have."""
        for name, (position, _) in use.given.items():
            unknown = Unknown(use.kind.option_family, name, use.kind.element)
            self.unknown(position, use.label, unknown, self._names(options_of(use.kind)), "option ")

    def _names(self, options: Iterable[Option]) -> list[str]:
        """The names that may be written for the options."""
        names: list[str] = []
        for option in options:
            if option.attribute == "endpoint":
                names += ["uri", "parameters"]
            elif option.kind is Language and option.attribute == "expression":
                names += ["expression", *self._registry.names(Family.LANGUAGE)]
            elif option.kind is DataFormat:
                names += self._registry.names(Family.DATA_FORMAT)
            elif option.kind is not ExtraOptions:
                names.append(option.name)
        return names

    def _value(self, option: Option, use: ElementUse) -> object | None:
        """The option's value; None when it is absent, or wrong and told about. Raises NeedsVariables."""
        if option.attribute == "endpoint":
            endpoint: object = self._endpoints.inline(option.kind, use)
            return endpoint
        if option.kind is Language and option.attribute == "expression":
            return self._inline_expression(option, use)
        if option.kind is DataFormat:
            data_format: object = self._inline_chosen(option, use, Family.DATA_FORMAT)
            return data_format
        if option.kind is ExtraOptions:
            return self._extra(use)
        _, node = use.given.pop(option.name, (None, None))
        if node is None:
            if option.required:
                self.problem(use.at, use.label, f"option '{option.name}' is missing")
            return None
        return self._read(option, f"{use.label}: {option.name}", node)

    def _read(self, option: Option, label: str, node: Node) -> object | None:
        if option.kind in ROLES:
            endpoint: object = self._endpoints.own(option.kind, label, node)
            return endpoint
        if option.kind is Language:
            return self._own_expression(option.use, label, node)
        if option.item is Step:
            return self._steps(node, label)
        if option.item is not None and issubclass(option.item, Element):
            return self._parts(option.item, label, node)
        if isinstance(option.kind, type) and issubclass(option.kind, Element):
            part: object = self.part(option.kind, label, node, node)
            return part
        try:
            value: object = option.read(node, self._variables)
        except UnknownName as error:
            self.problem(node, label, str(error), error.unknown)
            return None
        except ValueError as error:
            self.problem(node, label, str(error))
            return None
        return value

    def _parts(self, kind: type[Element], label: str, node: Node) -> tuple[Any, ...] | None:
        if not isinstance(node, Sequence):
            self.problem(node, label, "must be a list, each entry beginning with `- `")
            return None
        parts = [self.part(kind, label, item, _unwrapped(item, kind.element)) for item in node.items]
        return tuple(part for part in parts if part is not None and not getattr(part, "disabled", False))

    def _extra(self, use: ElementUse) -> ExtraOptions | None:
        """The options that are left, which the component hands on."""
        written: list[tuple[str, str]] = []
        lacking = getattr(use.kind, "lacking", ())
        for name in [name for name in use.given if name not in lacking]:
            position, node = use.given.pop(name)
            try:
                if not isinstance(node, Scalar):
                    raise ValueError("must be a text, a number, true or false")
                Text.parse(node.text)
            except ValueError as error:
                self.problem(position, f"{use.label}: {name}", str(error))
            else:
                written.append((name, node.text))
        return ExtraOptions.of(written)

    # Expressions and data formats

    def _inline_expression(self, option: Option, use: ElementUse) -> Language | None:
        """The expression, from `expression: {LANGUAGE: ...}` or `LANGUAGE: ...` beside the other options."""
        _, node = use.given.pop("expression", (None, None))
        if node is not None:
            return self._own_expression(option.use, use.label, node)
        language: Language | None = self._inline_chosen(option, use, Family.LANGUAGE)
        return language

    def _own_expression(self, use: Use, label: str, node: Node) -> Language | None:
        """An expression given as `{LANGUAGE: ...}`, or that below `expression`."""
        language: Language | None = self._chosen(_unwrapped(node, "expression"), Family.LANGUAGE, label, use)
        return language

    def _checked(self, language: Language, use: Use, label: str, node: Node) -> Language | None:
        """The expression, when it can be used so."""
        try:
            language.check(use)
        except UnknownName as error:
            self.problem(node, label, str(error), error.unknown)
            return None
        except ValueError as error:
            self.problem(node, label, str(error))
            return None
        return language

    def _inline_chosen(self, option: Option, use: ElementUse, family: Family) -> Any:
        """The one of a family whose name stands among the options."""
        found = [name for name in self._registry.names(family) if name in use.given]
        if len(found) == 1:
            name, value = use.given.pop(found[0])
            position = Scalar(found[0], False, name.line, name.column)
            return self._chosen(Mapping(name.line, name.column, [(position, value)]), family, use.label, option.use)
        if option.required or found:
            self._miss_choice(use, family, found)
        return None

    def _miss_choice(self, use: ElementUse, family: Family, found: list[str]) -> None:
        """Tells that none or several are given. A single name that is no option is taken for one of them."""
        names = self._registry.names(family)
        if not found and len(use.strangers) == 1:
            position, _ = use.given.pop(use.strangers[0])
            self.unknown(position, use.label, Unknown(family, position.text), names, f"{family} ")
            return
        for name in found:
            del use.given[name]
        what = "expression" if family is Family.LANGUAGE else family
        self.problem(use.at, use.label, f"needs one {what}, in one of: {', '.join(names)}")


def _unwrapped(node: Node, name: str) -> Node:
    """What stands below the one entry `name`, when that is how it is written."""
    if isinstance(node, Mapping) and len(node.entries) == 1 and node.entries[0][0].text == name:
        return node.entries[0][1]
    return node
