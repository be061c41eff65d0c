"""The functions about the file that a message came from: `file:name` and others."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from penstock.flow.exchange import Exchange
from penstock.flow.values import text_of

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext

Read = Callable[[Exchange, "FlowContext"], object]


def _header(name: str) -> Read:
    return lambda exchange, _: exchange.headers.get(name)


def _of(name: str, part: Callable[[str], str | None]) -> Read:
    def read(exchange: Exchange, _: "FlowContext") -> object:
        value = exchange.headers.get(name)
        return None if value is None else part(text_of(value))

    return read


def _last(path: str) -> str:
    return path.rpartition("/")[2]


def _ext(path: str) -> str | None:
    """All after the first dot of the name: `tar.gz`."""
    return _last(path).partition(".")[2] or None


def _single_ext(path: str) -> str | None:
    return _last(path).rpartition(".")[2] if "." in _last(path) else None


def _without_ext(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.partition('.')[0]}"


def _without_single_ext(path: str) -> str:
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"


FILE_FUNCTIONS: Mapping[str, Read] = {
    "file:name": _header("CamelFileName"),
    "file:name.noext": _of("CamelFileName", _without_ext),
    "file:name.noext.single": _of("CamelFileName", _without_single_ext),
    "file:name.ext": _of("CamelFileName", _ext),
    "file:name.ext.single": _of("CamelFileName", _single_ext),
    "file:ext": _of("CamelFileName", _ext),
    "file:onlyname": _of("CamelFileName", _last),
    "file:onlyname.noext": _of("CamelFileName", lambda path: _without_ext(_last(path))),
    "file:onlyname.noext.single": _of("CamelFileName", lambda path: _without_single_ext(_last(path))),
    "file:parent": _header("CamelFileParent"),
    "file:path": _header("CamelFilePath"),
    "file:absolute": _header("CamelFileAbsolute"),
    "file:absolute.path": _header("CamelFileAbsolutePath"),
    "file:length": _header("CamelFileLength"),
    "file:size": _header("CamelFileLength"),
    "file:modified": _header("CamelFileLastModified"),
}
