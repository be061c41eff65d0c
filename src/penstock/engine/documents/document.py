"""A document as cells, whatever its format."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum

import msgspec

from penstock.kernel.errors import Invalid

_BINARY = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f]")
LARGEST = 16 * 1024 * 1024  # characters


class Format(StrEnum):
    """dib: Polyglot Notebook, and code without any marks. ipynb: Jupyter. percent: Python with `# %%` marks."""

    DIB = "dib"
    IPYNB = "ipynb"
    PERCENT = "percent"


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A piece of a document.

    kernel: name as the document writes it, such as `python` or `markdown`. text: what the kernel gets.
    raw: the cell as it stands in the document, up to the next one; empty in percent form.
    tags: of Jupyter cells.
    """

    kernel: str
    text: str
    raw: str = ""
    tags: tuple[str, ...] = ()


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """source: the document byte for byte. head: what of it stands before the texts of the cells; all of it where cells
    have none. aliases: further names of kernels that the document declares.
    """

    format: Format
    source: str
    cells: tuple[Cell, ...]
    default_kernel: str
    head: str = ""
    aliases: Mapping[str, str] = {}


def check_text(source: str) -> None:
    """Raises Invalid for what is no text."""
    if len(source) > LARGEST:
        raise Invalid.one("", f"a document has at most {LARGEST} characters")
    found = _BINARY.search(source)
    if found:
        raise Invalid.one("", f"a document is text, and character {found.start() + 1} is a control character")


def lines_of(source: str) -> Sequence[str]:
    """Lines with their ends. Only \\n ends a line, so that other separators in texts stay within theirs."""
    return re.findall(r"[^\n]*\n|[^\n]+", source)
