"""What a document is: its parameters, what it answers, and how it looks with its questions made parameters."""

import asyncio
from collections.abc import Sequence

import msgspec

from penstock.engine.documents.document import Cell, Document
from penstock.engine.documents.kernels import SHOWN, SILENT, canonical
from penstock.engine.documents.magic import Code, parts_of
from penstock.engine.documents.parameters import Parameter, parameters_of
from penstock.engine.documents.python_code import result_type
from penstock.engine.documents.questions import without_questions
from penstock.engine.documents.reading import read_document
from penstock.engine.documents.types import ANY, STRING
from penstock.kernel.errors import FieldError, Invalid

_MOST_KNOWN = 256
_LONGEST_KNOWN = 50_000  # characters


class Analysis(msgspec.Struct, frozen=True):
    """updated: the document with each `@input` replaced by a parameter that `#!value` declares.

    returns: type of the last cell's result; None when it has none.
    """

    source: str
    updated: str
    returns: str | None
    parameters: Sequence[Parameter]


_known: dict[tuple[str, str | None], Analysis] = {}


def analyze(source: str, file_name: str | None = None) -> Analysis:
    """May take long: not for use on an event loop. Raises Invalid, whose field is empty."""
    document = read_document(source, file_name)
    parameters = parameters_of(document)
    return Analysis(source, without_questions(document), _returns(document, parameters), parameters)


async def analyze_apart(source: str, file_name: str | None = None, field: str = "") -> Analysis:
    """`analyze` for an event loop, which remembers: a script is analyzed before each run. Raises Invalid that names
    `field`."""
    known = _known.get((source, file_name))
    if known is not None:
        return known
    try:
        analysis = await asyncio.to_thread(analyze, source, file_name)
    except Invalid as invalid:
        raise Invalid(FieldError(error.field or field, error.message) for error in invalid.errors) from None
    if len(source) <= _LONGEST_KNOWN:
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[source, file_name] = analysis
    return analysis


def _returns(document: Document, parameters: Sequence[Parameter]) -> str | None:
    running = [cell for cell in document.cells if _runs(cell, document)]
    if not running:
        return None
    kernel = canonical(running[-1].kernel, document)
    if kernel in SHOWN:
        return STRING
    if kernel != "python":
        return ANY
    code = "".join(part.text for part in parts_of(running[-1].text) if isinstance(part, Code))
    return result_type(code, {parameter.name: parameter.type for parameter in parameters})


def _runs(cell: Cell, document: Document) -> bool:
    kernel = canonical(cell.kernel, document)
    return kernel not in SILENT and any(isinstance(part, Code) for part in parts_of(cell.text))
