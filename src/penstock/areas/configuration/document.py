"""Configuration documents: from YAML text to checked, typed documents."""

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from penstock.areas.configuration.yaml_tree import MOST_ERRORS, Node, read_trees
from penstock.kernel.errors import FieldError
from penstock.kernel.names import name_key
from penstock.kernel.validation import read_leniently
from penstock.kernel.wire import Map
from penstock.resource.kind import ConfigurationKind, Metadata, Spec

ABSENT = "absent"
PRESENT = "present"
VERSION = "penstock/v1alpha1"
_NO_DOCUMENT = "must be an object with apiVersion, kind, metadata and spec"
_ROUTES = "; the routes of a flow are saved with `penstock flow run FILE`, or as flowSpec of a document"
# The specification leaves the group open, so documents written for another group are taken as they are.
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*/v1alpha1")

Kinds = Mapping[str, ConfigurationKind[Any]]
T = TypeVar("T")


class Envelope(Spec):
    """The outer part of every configuration document."""

    api_version: str
    kind: str
    metadata: Metadata
    spec: Map | None = None


@dataclass(frozen=True)
class Document:
    """A document of a known kind.

    number: its place in the text, from 0. removal: whether the object is to go.
    spec: None for a removal, and where it is too wrong to be checked any further.
    told: the fields that are known to be wrong. Metadata and spec have stand-ins there, so that a kind can check the
    others; what it says of a stand-in is no news.
    """

    number: int
    kind: ConfigurationKind[Any]
    metadata: Metadata
    removal: bool
    spec: Spec | None
    tree: Node
    told: Sequence[str] = ()

    @property
    def key(self) -> tuple[str, str]:
        """What it is about: no two documents of one text may have the same."""
        return self.kind.kind, name_key(self.metadata.name)

    def located(self, errors: Iterable[FieldError]) -> list[FieldError]:
        """Errors of fields of this document that are news, with its number and lines."""
        return [_located(self.number, self.tree, error) for error in errors if not self._knows(error.field)]

    def _knows(self, field: str) -> bool:
        return any(field == told or field.startswith((f"{told}.", f"{told}[")) for told in self.told)


def read_documents(text: str, kinds: Kinds, errors: list[FieldError]) -> list[Document]:
    """The documents of known kinds; what is wrong with any goes to `errors`, MOST_ERRORS at most."""
    documents: list[Document] = []
    firsts: dict[tuple[str, str], int] = {}
    for number, tree in read_trees(text, errors):
        found: list[FieldError] = []
        document = _read(number, tree, kinds, found)
        if document is not None:
            first = firsts.setdefault(document.key, number) if document.metadata.name else number
            if first != number:
                message = f"documents[{first}] is about the same {document.kind.kind}"
                found.append(FieldError("metadata.name", message))
            documents.append(document)
        errors += [_located(number, tree, error) for error in found[: MOST_ERRORS - len(errors)]]
        if len(errors) >= MOST_ERRORS:
            break
    if not documents and not errors:
        errors.append(FieldError("", "there is no document"))
    return documents


def _read(number: int, tree: Node, kinds: Kinds, errors: list[FieldError]) -> Document | None:
    if not isinstance(tree.value, dict):
        errors.append(FieldError("", _NO_DOCUMENT + (_ROUTES if isinstance(tree.value, list) else "")))
        return None
    plain = tree.plain()
    envelope = _lenient(plain, Envelope, "", errors)
    kind = _kind(plain, kinds, errors)
    if envelope is None or kind is None:
        return None
    told = {error.field for error in errors}
    errors += [error for error in _envelope_errors(envelope) if error.field not in told]
    removal = envelope.metadata.state == ABSENT
    spec = None if removal else _spec(plain, envelope, kind, errors)
    return Document(number, kind, envelope.metadata, removal, spec, tree, [error.field for error in errors])


def _envelope_errors(envelope: Envelope) -> Iterator[FieldError]:
    if not _VERSION.fullmatch(envelope.api_version):
        yield FieldError("apiVersion", f"must be {VERSION}")
    if not envelope.metadata.name:
        yield FieldError("metadata.name", "is required")
    if envelope.metadata.state not in (PRESENT, ABSENT):
        yield FieldError("metadata.state", f"must be {PRESENT} or {ABSENT}")


def _kind(plain: Map, kinds: Kinds, errors: list[FieldError]) -> ConfigurationKind[Any] | None:
    name = plain.get("kind")
    if not isinstance(name, str):
        return None  # the envelope told so
    if name not in kinds:
        near = difflib.get_close_matches(name, kinds, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(sorted(kinds))}"
        errors.append(FieldError("kind", f"'{name}' is not a known kind; {hint}"))
    return kinds.get(name)


def _spec(plain: Map, envelope: Envelope, kind: ConfigurationKind[Any], errors: list[FieldError]) -> Any:
    spec = plain.get("spec")
    if spec is not None and not isinstance(spec, dict):
        return None  # the envelope told so
    if spec is None and envelope.metadata.state != PRESENT:
        return None  # a removal may have been meant
    return _lenient(spec or {}, kind.spec, "spec", errors)


def _lenient(plain: Map, wanted: type[T], prefix: str, errors: list[FieldError]) -> T | None:
    found, problems = read_leniently(plain, wanted)
    errors += [FieldError(_joined(prefix, each.field), _plainer(each.message)) for each in problems]
    return found


def _plainer(message: str) -> str:
    """Unquoted `5` and `true` are no text in YAML, which surprises most where a list of arguments is written."""
    surprising = message.startswith("must be a string, not ") and message.endswith((" number", " boolean"))
    return f"{message}; put it in quotes" if surprising else message


def _located(number: int, tree: Node, error: FieldError) -> FieldError:
    return FieldError(
        _joined(f"documents[{number}]", error.field), f"line {tree.line_of(error.field)}: {error.message}"
    )


def _joined(prefix: str, field: str) -> str:
    return f"{prefix}.{field}" if prefix and field else prefix or field
