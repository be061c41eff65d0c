"""Polyglot Notebooks (.dib): lines `#!<kernel>` begin cells, `#!meta` holds kernels' names as JSON.

Format: github.com/dotnet/interactive, docs. A document is kept as its texts, so writing it back loses nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import takewhile
from typing import Any

import msgspec

from penstock.engine.documents.document import Cell, Document, Format, lines_of
from penstock.kernel.errors import Invalid

META = "meta"
VALUE = "value"
_HEADER = re.compile(r"#!([A-Za-z][\w.#+-]*)[ \t\r]*\n?")
_DEFAULT = "python"

ALIASES: Mapping[str, str] = {
    "c#": "csharp",
    "f#": "fsharp",
    "powershell": "pwsh",
    "js": "javascript",
    "md": "markdown",
    "py": "python",
    "python3": "python",
    "ipython": "python",
}
KERNELS = frozenset(
    {
        "csharp",
        "fsharp",
        "html",
        "http",
        "javascript",
        "kql",
        "markdown",
        "mermaid",
        "pwsh",
        "python",
        "r",
        "raw",
        "sql",
        VALUE,
    }
)
"""Names that begin a cell in every document, besides their aliases and those that `#!meta` declares."""


class _KernelInfo(msgspec.Struct):
    name: str = ""
    aliases: list[str] = []


class _Kernels(msgspec.Struct, rename="camel"):
    default_kernel_name: str = ""
    items: list[_KernelInfo] = []


class _Meta(msgspec.Struct, rename="camel"):
    kernel_info: _Kernels = msgspec.field(default_factory=_Kernels)


def parse_dib(source: str, default_kernel: str | None = None, known: Iterable[str] = ()) -> Document:
    """default_kernel: of cells without a mark, where `#!meta` names none. known: further names of kernels.

    Raises Invalid when `#!meta` is no JSON.
    """
    metadata = _metadata(source)
    kernels = _kernels(metadata)
    default = default_kernel or kernels.default_kernel_name or _DEFAULT
    aliases = {alias.casefold(): item.name for item in kernels.items for alias in item.aliases if item.name}
    names = KERNELS | ALIASES.keys() | {META} | {name.casefold() for name in known} | aliases.keys()
    names |= {item.name.casefold() for item in kernels.items}
    return Document(
        format=Format.DIB,
        source=source,
        cells=tuple(_cells(source, default, names)),
        default_kernel=default,
        aliases=aliases,
        metadata=metadata,
    )


def write_dib(document: Document) -> str:
    """The document from its cells."""
    return "".join(cell.raw for cell in document.cells)


def _cells(source: str, default: str, names: Iterable[str]) -> Iterable[Cell]:
    known = frozenset(names)
    for header, body in _pieces(lines_of(source), known):
        kernel = _header_name(header) or default
        yield Cell(kernel=kernel, text=_trimmed(body), raw=header + body)


def _pieces(lines: Sequence[str], known: frozenset[str]) -> Iterable[tuple[str, str]]:
    header, body = "", list[str]()
    for line in lines:
        if _header_name(line) in known:
            if header or body:
                yield header, "".join(body)
            header, body = line, []
        else:
            body.append(line)
    if header or body:
        yield header, "".join(body)


def _header_name(line: str) -> str:
    match = _HEADER.fullmatch(line)
    return match[1].casefold() if match else ""


def _trimmed(body: str) -> str:
    """Without the blank lines around it, which belong to the form of the document."""
    return re.sub(r"\A(?:[ \t\r]*\n)+|\s+\Z", "", body)


def _metadata(source: str) -> Mapping[str, Any]:
    lines = iter(lines_of(source))
    if not any(_header_name(line) == META for line in lines):
        return {}
    body = "".join(takewhile(lambda line: not line.startswith("#!"), lines))
    try:
        return msgspec.json.decode(body, type=dict[str, Any]) if body.strip() else {}
    except msgspec.MsgspecError as error:
        raise Invalid.one("", f"#!meta is followed by no JSON object: {error}") from None


def _kernels(metadata: Mapping[str, Any]) -> _Kernels:
    try:
        return msgspec.convert(metadata, _Meta).kernel_info
    except msgspec.ValidationError as error:
        raise Invalid.one("", f"#!meta does not describe kernels: {error}") from None
