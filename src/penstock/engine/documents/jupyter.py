"""Jupyter notebooks (.ipynb) and Python in percent form. What reads them is large, and loaded when first needed."""

import warnings
from collections.abc import Sequence
from typing import Any

from penstock.engine.documents.document import Cell, Document, Format
from penstock.engine.documents.json_spans import EACH, spans
from penstock.kernel.errors import Invalid

_CELLS = (("cells", EACH), ("worksheets", EACH, "cells", EACH))
"""Where cells are, since version 4 and before."""


def parse_ipynb(source: str) -> Document:
    """Raises Invalid when it is no notebook of a known version."""
    import nbformat

    text = source.removeprefix("\ufeff")
    if '"nbformat"' not in text:
        raise Invalid.one("", "is no Jupyter notebook: it has no nbformat")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what nbformat mends in its copy
            notebook = nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]
            nbformat.validate(notebook, relax_add_props=True)
    except Exception as error:  # noqa: BLE001 - the library raises what its parsers raise; the text is at fault
        raise _refused("is no Jupyter notebook", error) from None
    head, raws = _texts(source, len(source) - len(text), len(notebook.cells))
    return _document(notebook, Format.IPYNB, source, head, raws)


def parse_percent(source: str) -> Document:
    """Raises Invalid when jupytext cannot read it."""
    import jupytext  # type: ignore[import-untyped]

    try:
        notebook = jupytext.reads(source, fmt="py:percent")
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


def _document(notebook: Any, format: Format, source: str, head: str, raws: Sequence[str]) -> Document:
    kernelspec = notebook.metadata.get("kernelspec", {})
    language = notebook.metadata.get("language_info", {}).get("name") or kernelspec.get("language") or "python"
    kernel = kernelspec.get("name") or language
    texts = raws or [""] * len(notebook.cells)
    cells = [_cell(cell, kernel, raw) for cell, raw in zip(notebook.cells, texts, strict=True)]
    return Document(format=format, source=source, cells=tuple(cells), default_kernel=kernel, head=head)


def _cell(cell: Any, kernel: str, raw: str) -> Cell:
    metadata = cell.get("metadata", {})
    # The language of a cell of a polyglot notebook.
    polyglot = metadata.get("polyglot_notebook", {}).get("kernelName") or metadata.get("dotnet_interactive", {}).get(
        "language"
    )
    name = {"markdown": "markdown", "raw": "raw"}.get(cell.cell_type, polyglot or kernel)
    return Cell(kernel=str(name), text=cell.get("source", ""), raw=raw, tags=tuple(map(str, metadata.get("tags", ()))))
