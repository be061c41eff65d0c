"""Checks a flow's text against what Camel knows, and lists what of Camel it uses."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from penstock.flow.camel.catalog import DATA_FORMAT, DOCUMENT, LANGUAGE, STEP, Catalog, catalog
from penstock.flow.family import Family
from penstock.flow.parsing.document import Mapping, Node, Scalar, Sequence, read_document
from penstock.flow.parsing.endpoint_uri import EndpointUri
from penstock.flow.parsing.problem import Problem, Problems, Unknown

_FEW = 40
_OPEN = ("{{", "${")


class Use(NamedTuple):
    """Something of Camel's catalog that a flow uses. package: Maven coordinate; empty for what is always there."""

    family: Family
    name: str
    package: str = ""


class CamelDocument(NamedTuple):
    """uses: in the order of the text."""

    problems: tuple[Problem, ...]
    uses: tuple[Use, ...]

    @classmethod
    def read(cls, source: str) -> "CamelDocument":
        """Never raises for what the text holds."""
        problems: Problems = []
        walk = _Walk(catalog(), problems)
        root = read_document(source, problems)
        if root is not None:
            walk.document(root)
        return cls(tuple(problems), tuple(dict.fromkeys(walk.uses)))


class _Walk:
    def __init__(self, known: Catalog, problems: Problems) -> None:
        self._catalog = known
        self._problems = problems
        self.uses: list[Use] = []

    def document(self, root: Node) -> None:
        if not isinstance(root, Sequence):
            self._problem(root, "document", "must be a list of routes: `- route: {from: ...}` or `- from: ...`")
            return
        for item in root.items:
            self._value(item, DOCUMENT, "document")

    def _value(self, node: Node, form: str, label: str) -> None:
        """form: the name of one, or empty for any value."""
        if form.startswith("*"):
            for item in self._items(node, label):
                self._value(item, form[1:], label)
        elif form == STEP:
            self._step(node, label)
        elif form and form in self._catalog.forms:
            self._mapping(node, form, label)

    def _items(self, node: Node, label: str) -> Iterable[Node]:
        if isinstance(node, Sequence):
            return node.items
        if not _is_null(node):
            self._problem(node, label, "must be a list, each entry beginning with `- `")
        return ()

    def _step(self, node: Node, label: str) -> None:
        if isinstance(node, Scalar) and not node.null:
            node = Mapping(node.line, node.column, [(node, Scalar("", True, node.line, node.column))])
        if not isinstance(node, Mapping) or len(node.entries) != 1:
            self._problem(node, label, "must be a mapping with exactly one step, like `- setBody: ...`")
            return
        name, value = node.entries[0]
        form = self._option(name, self._catalog.options(STEP), "step", Family.STEP)
        if form is not None:
            self.uses.append(Use(Family.STEP, name.text))
            self._value(value, form, name.text)

    def _mapping(self, node: Node, form: str, label: str) -> None:
        if isinstance(node, Sequence):
            self._problem(node, label, "must be a mapping of options, not a list")
        elif isinstance(node, Scalar):
            self._text(node, form, label)
        else:
            options = self._catalog.options(form)
            for name, value in node.entries:
                kind = self._option(name, options, label, Family.OPTION)
                if kind is not None:
                    self._use(name, value, kind)
                    if form == DOCUMENT:
                        self.uses.append(Use(Family.STEP, name.text))
                    self._value(value, kind, name.text)
            self._endpoint(node, options, label)

    def _text(self, node: Scalar, form: str, label: str) -> None:
        if node.null:
            return
        if not self._catalog.takes_text(form):
            self._problem(node, label, "must be a mapping of options")
        elif "uri" in self._catalog.options(form):
            self._component(EndpointUri.parse(node.text), node, None, label)

    def _option(self, name: Scalar, options: dict[str, str], label: str, family: Family) -> str | None:
        """The form of the option's value; None, with a problem told, when there is no such option."""
        if name.text in options:
            return options[name.text]
        what = "" if family is Family.STEP else "option "
        self._unknown(name, label, what, Unknown(family, name.text, label), options)
        return None

    def _use(self, name: Scalar, value: Node, form: str) -> None:
        if form.startswith(LANGUAGE) and name.text in self._catalog.languages:
            self.uses.append(Use(Family.LANGUAGE, name.text, self._catalog.languages[name.text]))
        elif form.startswith(DATA_FORMAT):
            package = self._data_format(name.text, value)
            self.uses.append(Use(Family.DATA_FORMAT, name.text, package))

    def _data_format(self, name: str, value: Node) -> str:
        """Of formats with several libraries, the one that the value names, else Camel's own choice."""
        library = _entry(value, "library")
        names = [library.text] if isinstance(library, Scalar) else []
        known = {each.casefold(): package for each, package in self._catalog.data_formats.items()}
        for candidate in (*names, f"{name}{''.join(names)}", name, "jackson" if name == "json" else f"{name}Csv"):
            if candidate.casefold() in known:
                return known[candidate.casefold()]
        return ""

    def _endpoint(self, node: Mapping, options: dict[str, str], label: str) -> None:
        uri = _entry(node, "uri")
        if "uri" in options and isinstance(uri, Scalar) and not uri.null:
            self._component(EndpointUri.parse(uri.text), uri, _entry(node, "parameters"), label)

    def _component(self, uri: EndpointUri, at: Scalar, parameters: Node | None, label: str) -> None:
        if uri.scheme.startswith(_OPEN):
            return
        entry = self._catalog.components.get(uri.scheme)
        if entry is None:
            known = self._catalog.components
            self._unknown(at, label, "component ", Unknown(Family.COMPONENT, uri.scheme), known)
            return
        self.uses.append(Use(Family.COMPONENT, uri.scheme, entry.artifact))
        if not (entry.consumer if label == "from" else entry.producer):
            self._problem(
                at, label, f"component '{uri.scheme}' cannot be used in `{'from' if label == 'from' else 'to'}`"
            )
        given = [(name, at) for name, _ in uri.query]
        if isinstance(parameters, Mapping):
            given += [(name.text, name) for name, _ in parameters.entries]
        for option, position in given:
            if not entry.takes(option) and not option.startswith(_OPEN):
                unknown = Unknown(Family.OPTION, option, uri.scheme)
                self._unknown(position, f"{uri.scheme}: {option}", "option ", unknown, entry.options)

    def _unknown(self, at: Node, label: str, what: str, unknown: Unknown, known: Iterable[str]) -> None:
        names = sorted(name for name in known if not name.startswith("/"))
        nearest = get_close_matches(unknown.name, names, n=1)
        guess = f", did you mean '{nearest[0]}'?" if nearest else ""
        allowed = f" (known: {', '.join(names)})" if len(names) <= _FEW else ""
        message = f"{what}'{unknown.name}' is not known{guess}{allowed}"
        self._problems.append(Problem(at.line, at.column, label, message, unknown))

    def _problem(self, at: Node, label: str, message: str) -> None:
        self._problems.append(Problem(at.line, at.column, label, message))


def _entry(node: Node, name: str) -> Node | None:
    if not isinstance(node, Mapping):
        return None
    return next((value for key, value in node.entries if key.text == name), None)


def _is_null(node: Node) -> bool:
    return isinstance(node, Scalar) and node.null
