"""Polyglot Notebooks (.dib): lines `#!<kernel>` begin cells, `#!meta` holds kernels' names as JSON.

Format: github.com/dotnet/interactive, docs. A document is kept as its texts, so writing it back loses nothing.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import dropwhile, takewhile
from typing import Any

import msgspec

from penstock.engine.documents.document import Cell, Document, Format, lines_of
from penstock.kernel.errors import Invalid

META = "meta"
VALUE = "value"
_BYTE_ORDER_MARK = "\ufeff"
_DEFAULT = "python"

ALIASES: Mapping[str, str] = {
    "c#": "csharp",
    "cs": "csharp",
    "f#": "fsharp",
    "fs": "fsharp",
    "powershell": "pwsh",
    "js": "javascript",
    "md": "markdown",
    "py": "python",
    "python3": "python",
    "ipython": "python",
}
KERNELS = frozenset(
    {
        "bash",
        "csharp",
        "deno",
        "fsharp",
        "go",
        "html",
        "http",
        "java",
        "javascript",
        "julia",
        "kotlin",
        "kql",
        "markdown",
        "mermaid",
        "octave",
        "perl",
        "pwsh",
        "python",
        "r",
        "raw",
        "ruby",
        "rust",
        "scala",
        "sql",
        "typescript",
        VALUE,
    }
)
"""Names that begin a cell in every document, besides their aliases and those that `#!meta` declares."""


class _KernelInfo(msgspec.Struct):
    name: str | None = None
    aliases: list[str] | None = None


class _Kernels(msgspec.Struct, rename="camel"):
    default_kernel_name: str | None = None
    items: list[_KernelInfo] | None = None


class _Meta(msgspec.Struct, rename="camel"):
    kernel_info: _Kernels | None = None


def parse_dib(source: str, default_kernel: str | None = None, known: Iterable[str] = ()) -> Document:
    """default_kernel: of cells without a mark, where `#!meta` names none. known: further names of kernels.

    Raises Invalid when `#!meta` is followed by no JSON object, or one that does not describe kernels.
    """
    lines = lines_of(source)
    described = _described(lines)
    kernels = [item for item in described.items or () if item.name] if described else []
    default = default_kernel or (described and described.default_kernel_name) or _DEFAULT
    aliases = {alias.casefold(): item.name for item in kernels for alias in item.aliases or () if alias and item.name}
    names = KERNELS | ALIASES.keys() | {name.casefold() for name in known} | aliases.keys()
    names |= {item.name.casefold() for item in kernels if item.name}
    return Document(
        format=Format.DIB,
        source=source,
        cells=tuple(_cells(lines, default, names, has_meta=described is not None)),
        default_kernel=default,
        aliases=aliases,
    )


def _cells(lines: Sequence[str], default: str, names: frozenset[str], *, has_meta: bool) -> Iterable[Cell]:
    for header, body in _pieces(lines, names, has_meta=has_meta):
        yield Cell(kernel=_header_name(header) or default, text=_trimmed(body), raw=header + body)


def _pieces(lines: Sequence[str], names: frozenset[str], *, has_meta: bool) -> Iterable[tuple[str, str]]:
    header, body = "", list[str]()
    begins = names | {META} if has_meta else names
    for line in lines:
        if _header_name(line) in begins:
            if header or body:
                yield header, "".join(body)
            header, body = line, []
            begins = names if _header_name(line) == META else begins
        else:
            body.append(line)
    if header or body:
        yield header, "".join(body)


def _header_name(line: str) -> str:
    """What stands behind `#!`; empty for any other line."""
    plain = line.removeprefix(_BYTE_ORDER_MARK)
    return plain[2:].rstrip().casefold() if plain.startswith("#!") else ""


def _trimmed(body: str) -> str:
    """Without the blank lines around it, which belong to the form of the document."""
    return re.sub(r"\A(?:[ \t\r]*\n)+|\s+\Z", "", body.removeprefix(_BYTE_ORDER_MARK))


def _described(lines: Sequence[str]) -> _Kernels | None:
    """What `#!meta` says; None when it is not the first thing in the document. Further down it is text."""
    rest = list(dropwhile(lambda line: not line.removeprefix(_BYTE_ORDER_MARK).strip(), lines))
    if not rest or _header_name(rest[0]) != META:
        return None
    body = "".join(takewhile(lambda line: not line.startswith("#!"), rest[1:]))
    if not body.strip():
        return _Kernels()
    try:
        metadata = msgspec.json.decode(body, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise Invalid.one("", f"#!meta is followed by no JSON object: {error}") from None
    try:
        return msgspec.convert(metadata, _Meta).kernel_info or _Kernels()
    except msgspec.ValidationError as error:
        raise Invalid.one("", f"#!meta does not describe kernels: {error}") from None
