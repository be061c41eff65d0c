"""Jupyter notebooks (.ipynb) and Python in percent form. What reads them is large, and loaded when first needed."""

import warnings
from collections.abc import Sequence
from typing import Any

import msgspec

from penstock.engine.documents.document import Cell, Document, Format
from penstock.engine.documents.json_spans import EACH, spans
from penstock.kernel.errors import Invalid

_CELLS = (("cells", EACH), ("worksheets", EACH, "cells", EACH))
"""Where cells are, since version 4 and before."""


class _Polyglot(msgspec.Struct, rename={"kernel_name": "kernelName"}):
    """Which kernel a cell of a polyglot notebook is for: new name, old name."""

    kernel_name: str | None = None
    language: str | None = None


class _CellMetadata(msgspec.Struct):
    tags: list[Any] | None = None
    polyglot_notebook: _Polyglot | None = None
    dotnet_interactive: _Polyglot | None = None


class _Cell(msgspec.Struct):
    cell_type: str
    source: str = ""
    metadata: _CellMetadata = msgspec.field(default_factory=_CellMetadata)


class _Language(msgspec.Struct):
    name: str | None = None
    language: str | None = None


class _Metadata(msgspec.Struct):
    kernelspec: _Language = msgspec.field(default_factory=_Language)
    language_info: _Language = msgspec.field(default_factory=_Language)


class _Notebook(msgspec.Struct):
    """What is needed of a notebook. The rest may be as it likes, since many write notebooks."""

    cells: list[_Cell]
    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


def parse_ipynb(source: str) -> Document:
    """Raises Invalid when it is no notebook of a known version."""
    import nbformat

    text = source.removeprefix("\ufeff")
    if '"nbformat"' not in text:
        raise Invalid.one("", "is no Jupyter notebook: it has no nbformat")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what nbformat mends in its copy
            notebook = msgspec.convert(nbformat.reads(text, as_version=4), _Notebook)  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - the library raises what its parsers raise; the text is at fault
        raise _refused("is no Jupyter notebook", error) from None
    head, raws = _texts(source, len(source) - len(text), len(notebook.cells))
    return _document(notebook, Format.IPYNB, source, head, raws)


def parse_percent(source: str) -> Document:
    """Raises Invalid when jupytext cannot read it."""
    import jupytext  # type: ignore[import-untyped]

    try:
        notebook = msgspec.convert(jupytext.reads(source, fmt="py:percent"), _Notebook)
    except Exception as error:  # noqa: BLE001 - the library raises what its parsers raise; the text is at fault
        raise _refused("is no Python in percent form", error) from None
    return _document(notebook, Format.PERCENT, source, source, ())


def _texts(source: str, begin: int, count: int) -> tuple[str, Sequence[str]]:
    """What stands before the cells, and the text of each up to the next."""
    text = source[begin:]
    for path in _CELLS:
        starts = [start + begin for start, _ in spans(text, path)]
        if starts and len(starts) == count:
            ends = [*starts[1:], len(source)]
            return source[: starts[0]], [source[start:end] for start, end in zip(starts, ends, strict=True)]
    return source, ()


def _refused(what: str, error: Exception) -> Invalid:
    reason = str(error).strip().partition("\n")[0]
    return Invalid.one("", f"{what}: {reason or type(error).__name__}")


def _document(notebook: _Notebook, format: Format, source: str, head: str, raws: Sequence[str]) -> Document:
    spec = notebook.metadata.kernelspec
    kernel = spec.name or notebook.metadata.language_info.name or spec.language or "python"
    texts = raws or [""] * len(notebook.cells)
    cells = [_cell(cell, kernel, raw) for cell, raw in zip(notebook.cells, texts, strict=True)]
    return Document(format=format, source=source, cells=tuple(cells), default_kernel=kernel, head=head)


def _cell(cell: _Cell, kernel: str, raw: str) -> Cell:
    if cell.cell_type == "code":
        metadata = cell.metadata
        own = metadata.polyglot_notebook and metadata.polyglot_notebook.kernel_name
        kernel = own or (metadata.dotnet_interactive and metadata.dotnet_interactive.language) or kernel
    else:
        # What later versions add is for readers, as far as is known here.
        kernel = "markdown" if cell.cell_type == "markdown" else "raw"
    return Cell(kernel=kernel, text=cell.source, raw=raw, tags=tuple(map(str, cell.metadata.tags or ())))
