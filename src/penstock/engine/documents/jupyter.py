"""Jupyter notebooks (.ipynb) and Python in percent form. What reads them is large, and loaded when first needed."""

from typing import Any

import msgspec

from penstock.engine.documents.document import Cell, Document, Format
from penstock.kernel.errors import Invalid

_INDENT = 1  # as Jupyter writes notebooks


def parse_ipynb(source: str) -> Document:
    """Raises Invalid when it is no notebook of a known version."""
    try:
        given = msgspec.json.decode(source, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise Invalid.one("", f"is no Jupyter notebook: {error}") from None
    return _document(_notebook(source), Format.IPYNB, source, given)


def write_ipynb(document: Document) -> str:
    """The notebook as Jupyter writes it, with everything that the platform does not know of."""
    import json

    end = "\n" if document.source.endswith("\n") else ""
    return json.dumps(document.metadata, indent=_INDENT, ensure_ascii=False) + end


def parse_percent(source: str) -> Document:
    """Raises Invalid when jupytext cannot read it."""
    import jupytext  # type: ignore[import-untyped]

    try:
        return _document(jupytext.reads(source, fmt="py:percent"), Format.PERCENT, source, {})
    except Exception as error:  # noqa: BLE001 - the library raises what its parsers raise; the text is at fault
        raise Invalid.one("", f"is no Python in percent form: {error}") from None


def _notebook(source: str) -> Any:
    import nbformat

    try:
        notebook = nbformat.reads(source, as_version=4)  # type: ignore[no-untyped-call]
        nbformat.validate(notebook, relax_add_props=True)
    except Exception as error:  # noqa: BLE001 - the library raises what its parsers raise; the text is at fault
        raise Invalid.one("", f"is no Jupyter notebook: {str(error).splitlines()[0]}") from None
    return notebook


def _document(notebook: Any, format: Format, source: str, given: dict[str, Any]) -> Document:
    kernelspec = notebook.metadata.get("kernelspec", {})
    language = notebook.metadata.get("language_info", {}).get("name") or kernelspec.get("language") or "python"
    cells = [_cell(cell, kernelspec.get("name") or language, language) for cell in notebook.cells]
    return Document(
        format=format,
        source=source,
        cells=tuple(cells),
        default_kernel=kernelspec.get("name") or language,
        metadata=given,
    )


def _cell(cell: Any, kernel: str, language: str) -> Cell:
    metadata = cell.get("metadata", {})
    # The language of a cell of a polyglot notebook.
    polyglot = metadata.get("polyglot_notebook", {}).get("kernelName") or metadata.get("dotnet_interactive", {}).get(
        "language"
    )
    name = {"markdown": "markdown", "raw": "raw"}.get(cell.cell_type, polyglot or kernel)
    return Cell(kernel=str(name), text=cell.source, tags=tuple(map(str, metadata.get("tags", ()))))
