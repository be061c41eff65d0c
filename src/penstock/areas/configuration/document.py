"""Configuration documents: from YAML text to checked, typed documents."""

import difflib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.areas.configuration.yaml_tree import Node, read_trees
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_key
from penstock.kernel.validation import from_builtins
from penstock.kernel.wire import Map
from penstock.resource.kind import ConfigurationKind, Metadata, Spec

ABSENT = "absent"
PRESENT = "present"
VERSION = "penstock/v1alpha1"
# The specification leaves the group open, so documents written for another group are taken as they are.
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*/v1alpha1")

Kinds = Mapping[str, ConfigurationKind[Any]]


class Envelope(Spec):
    """The outer part of every configuration document."""

    api_version: str
    kind: str
    metadata: Metadata
    spec: Map | None = None


@dataclass(frozen=True)
class Document:
    """A document that fits its kind. number: its place in the text, from 0; spec: None when the object is to go."""

    number: int
    kind: ConfigurationKind[Any]
    metadata: Metadata
    spec: Spec | None
    tree: Node

    @property
    def key(self) -> tuple[str, str]:
        """What it is about: no two documents of one text may have the same."""
        return self.kind.kind, name_key(self.metadata.name)

    def located(self, error: FieldError) -> FieldError:
        """An error of a field of this document, with its number and line."""
        return _located(self.number, self.tree, error)


def read_documents(text: str, kinds: Kinds, errors: list[FieldError]) -> list[Document]:
    """The documents that fit their kinds; what is wrong with the others goes to `errors`."""
    documents: list[Document] = []
    firsts: dict[tuple[str, str], int] = {}
    for number, tree in read_trees(text, errors):
        found: list[FieldError] = []
        document = _read(number, tree, kinds, found)
        if document is not None:
            first = firsts.setdefault(document.key, number)
            if first != number:
                message = f"documents[{first}] is about the same {document.kind.kind}"
                found.append(FieldError("metadata.name", message))
            documents.append(document)
        errors += [_located(number, tree, error) for error in found]
    if not documents and not errors:
        errors.append(FieldError("", "there is no document"))
    return documents


def _read(number: int, tree: Node, kinds: Kinds, errors: list[FieldError]) -> Document | None:
    if not isinstance(tree.value, dict):
        errors.append(FieldError("", "must be an object with apiVersion, kind, metadata and spec"))
        return None
    plain = tree.plain()
    envelope = _try(lambda: from_builtins(plain, Envelope), "", errors)
    if envelope is not None:
        _check_envelope(envelope, errors)
    kind = _kind(plain, kinds, errors)
    spec = _spec(plain, kind, errors) if kind else None
    if errors or envelope is None or kind is None:
        return None
    return Document(number, kind, envelope.metadata, spec, tree)


def _check_envelope(envelope: Envelope, errors: list[FieldError]) -> None:
    if not _VERSION.fullmatch(envelope.api_version):
        errors.append(FieldError("apiVersion", f"must be {VERSION}"))
    if not envelope.metadata.name:
        errors.append(FieldError("metadata.name", "is required"))
    if envelope.metadata.state not in (PRESENT, ABSENT):
        errors.append(FieldError("metadata.state", f"must be {PRESENT} or {ABSENT}"))


def _kind(plain: Map, kinds: Kinds, errors: list[FieldError]) -> ConfigurationKind[Any] | None:
    name = plain.get("kind")
    if not isinstance(name, str):
        return None  # the envelope told so
    if name not in kinds:
        near = difflib.get_close_matches(name, kinds, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(kinds))}"
        errors.append(FieldError("kind", f"'{name}' is not a known kind; {hint}"))
    return kinds.get(name)


def _spec(plain: Map, kind: ConfigurationKind[Any], errors: list[FieldError]) -> Any:
    metadata, spec = plain.get("metadata"), plain.get("spec")
    if isinstance(metadata, dict) and metadata.get("state") == ABSENT:
        return None
    if spec is not None and not isinstance(spec, dict):
        return None  # the envelope told so
    return _try(lambda: from_builtins(spec or {}, kind.spec), "spec", errors)


def _try(read: Callable[[], Any], prefix: str, errors: list[FieldError]) -> Any:
    try:
        return read()
    except Invalid as error:
        errors += [FieldError(_joined(prefix, each.field), _plainer(each.message)) for each in error.errors]
        return None


def _plainer(message: str) -> str:
    """Unquoted `5` and `true` are no text in YAML, which surprises most where a list of arguments is written."""
    surprising = message.startswith(
        ("expected `str`, got `int`", "expected `str`, got `float`", "expected `str`, got `b")
    )
    return f"{message}; put it in quotes" if surprising else message


def _located(number: int, tree: Node, error: FieldError) -> FieldError:
    return FieldError(
        _joined(f"documents[{number}]", error.field), f"line {tree.line_of(error.field)}: {error.message}"
    )


def _joined(prefix: str, field: str) -> str:
    return f"{prefix}.{field}" if prefix and field else prefix or field
