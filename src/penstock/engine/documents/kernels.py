"""Names of kernels in documents."""

from penstock.engine.documents.dib import ALIASES
from penstock.engine.documents.document import Document

SHOWN = {"html": "text/html", "mermaid": "text/vnd.mermaid"}
"""Cells that no kernel runs: their text is the output, of this type."""
SILENT = frozenset({"markdown", "raw", "meta"})
"""Cells that are for readers only."""


def canonical(name: str, document: Document | None = None) -> str:
    """One name for all that a kernel goes by."""
    plain = name.casefold()
    declared = document.aliases.get(plain, plain).casefold() if document is not None else plain
    return ALIASES.get(declared, declared)
