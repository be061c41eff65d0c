"""The parameters that a document declares, and the check of values for them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from penstock.engine.documents.document import Cell, Document
from penstock.engine.documents.kernels import canonical
from penstock.engine.documents.magic import Magic, Reference, parts_of
from penstock.engine.documents.python_code import NO_VALUE, assignments, parameters_block
from penstock.engine.documents.types import ANY, EXAMPLES, STRING, fits, known_type, type_of_hint, type_of_value
from penstock.kernel.errors import FieldError, Invalid

_JSON = "application/json"
_TAG = "parameters"


class Parameter(msgspec.Struct, frozen=True):
    """type: see `types`. default: JSON, None when there is none. required: whether a run must give it a value."""

    name: str
    type: str
    default: str | None = None
    required: bool = False


class Given(msgspec.Struct, frozen=True):
    """A value for a parameter. json: its text. type: what the caller says it is. field: where it came in."""

    name: str
    json: str
    type: str | None = None
    field: str = ""


def parameters_of(document: Document) -> list[Parameter]:
    """In the order of the document; of several declarations of a name the first holds. Raises Invalid."""
    found: dict[str, Parameter] = {}
    for cell in document.cells:
        for parameter in _of_cell(cell, canonical(cell.kernel, document)):
            found.setdefault(parameter.name, parameter)
    return list(found.values())


def block_of(cell: Cell, text: str) -> str:
    """The lines of a Python cell's text whose assignments are the defaults of parameters."""
    return parameters_block(text, tagged=_TAG in cell.tags)


def asked_name(magic: Magic, reference: Reference) -> str:
    """What the value that a reference asks for is called: as the variable it goes to, unless that is asked for too."""
    name = magic.options.get("name") if magic.name in ("set", "value") else None
    return name if isinstance(name, str) and name else reference.name


def check_values(
    parameters: Sequence[Parameter], given: Iterable[Given], defaults: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """The values that a run gets: those given over `defaults`, both JSON by name. The document's own are left to it.

    Raises Invalid with every problem.
    """
    known = {parameter.name: parameter for parameter in parameters}
    errors: list[FieldError] = []
    values: dict[str, Any] = {}
    stored = [Given(name, json) for name, json in (defaults or {}).items() if name in known]
    for each in (*stored, *given):
        try:
            values[each.name] = _checked(each, known)
        except ValueError as problem:
            errors.append(FieldError(each.field, str(problem)))
    missing = [name for name, parameter in known.items() if parameter.required and name not in values]
    if missing and not errors:
        errors.append(FieldError("Parameters", f"a value is needed for {', '.join(missing)}"))
    if errors:
        raise Invalid(errors)
    return values


def _checked(given: Given, known: Mapping[str, Parameter]) -> Any:
    """Raises ValueError with what is wrong."""
    parameter = known.get(given.name)
    if parameter is None:
        declared = f"it declares {', '.join(known)}" if known else "it declares none"
        raise ValueError(f"'{given.name}' is no parameter of the document; {declared}")
    try:
        value = msgspec.json.decode(given.json)
    except msgspec.MsgspecError:
        raise ValueError(f"the value of '{given.name}' is no JSON; a text needs quotes") from None
    type = known_type(given.type or "") if parameter.type == ANY else parameter.type
    if not fits(value, type):
        what = f"like {EXAMPLES[type]}" if type in EXAMPLES else f"not {type_of_value(value)}"
        raise ValueError(f"'{given.name}' must be of type {type}, {what}")
    return value


def _of_cell(cell: Cell, kernel: str) -> Iterator[Parameter]:
    if kernel == "python":
        yield from _of_python(block_of(cell, cell.text))
    for part in parts_of(cell.text):
        if isinstance(part, Magic):
            yield from _of_magic(part)
    if kernel == "value" and cell.text and not cell.text.startswith("#!"):
        raise Invalid.one("", "a #!value cell needs --name")


def _of_python(text: str) -> Iterator[Parameter]:
    for name, type, value, has_value in assignments(text):
        default = None if value is NO_VALUE else msgspec.json.encode(value).decode()
        yield Parameter(name, type, default, required=not has_value)


def _of_magic(magic: Magic) -> Iterator[Parameter]:
    asking = [reference for reference in magic.references if reference.asks]
    for reference in asking:
        yield Parameter(asked_name(magic, reference), _asked_type(magic, reference), required=True)
    if magic.name == "value" and not asking and not magic.references:
        yield declared_value(magic)


def _asked_type(magic: Magic, reference: Reference) -> str:
    if not reference.hint and magic.text("mime-type") == _JSON and magic.options.get("name") != reference:
        return ANY
    return type_of_hint(reference.hint)


def declared_value(magic: Magic) -> Parameter:
    """The parameter that `#!value` with a value in the document declares."""
    name, text = magic.needed("name"), magic.text("from-value")
    if "from-file" in magic.options or "from-url" in magic.options:
        raise Invalid.one("", f"'{magic.line}': values come from --from-value, the lines below, or a parameter")
    text = magic.content if text is None else text
    if magic.text("mime-type") == _JSON:
        try:
            return Parameter(name, type_of_value(msgspec.json.decode(text)), text)
        except msgspec.MsgspecError:
            raise Invalid.one("", f"the value of '{name}' is no JSON") from None
    return Parameter(name, STRING, msgspec.json.encode(text).decode())
