"""Reads a document of any format."""

import re
from collections.abc import Iterable

from penstock.engine.documents.dib import parse_dib
from penstock.engine.documents.document import Document, Format, check_text
from penstock.engine.documents.jupyter import parse_ipynb, parse_percent

_PERCENT = re.compile(r"^# %%(?:[ \t]|$)", re.MULTILINE)
_DIB = re.compile(r"^#![A-Za-z]", re.MULTILINE)
_ENDINGS = {".dib": Format.DIB, ".ipynb": Format.IPYNB}


def format_of(source: str, file_name: str | None = None) -> Format:
    """By the name's ending, else by how the text looks."""
    for ending, format in _ENDINGS.items():
        if (file_name or "").casefold().endswith(ending):
            return format
    if source.lstrip("\ufeff \t\r\n").startswith("{") and '"nbformat"' in source:
        return Format.IPYNB
    return Format.PERCENT if _PERCENT.search(source) and not _DIB.search(source) else Format.DIB


def read_document(
    source: str, file_name: str | None = None, default_kernel: str | None = None, known: Iterable[str] = ()
) -> Document:
    """See `parse_dib`. May take long: not for use on an event loop. Raises Invalid, whose field is empty."""
    check_text(source)
    match format_of(source, file_name):
        case Format.IPYNB:
            return parse_ipynb(source)
        case Format.PERCENT:
            return parse_percent(source)
        case _:
            return parse_dib(source, default_kernel, known)


def write_document(document: Document) -> str:
    """The text of the document from its cells; for one that was read, the same that was read."""
    return document.head + "".join(cell.raw for cell in document.cells)
