"""What an operation can answer besides a Struct, a list of them, a scalar or nothing."""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import quote

from penstock.kernel.wire import join_array

T = TypeVar("T")

Done = Callable[[bool], Awaitable[None]]
"""Told once whether an answer went out whole, which is not to say that it arrived. Must not raise."""


@dataclass(frozen=True)
class Encoded(Generic[T]):
    """JSON of a T that is encoded already, as the store keeps it.

    e_tag: sent as ETag header.
    next_skip: where the next page begins; sent as `Link: rel="next"`.
    next_query: instead of it, the query parameters that differ in the request for the next page.
    done: told of the answer's end; for what may only happen once it has been given.
    """

    body: bytes
    e_tag: str | None = None
    next_skip: int | None = None
    next_query: Mapping[str, str] | None = None
    done: Done | None = None

    @classmethod
    def array(cls, items: list[bytes], next_skip: int | None = None) -> "Encoded[T]":
        return cls(join_array(items), next_skip=next_skip)


@dataclass(frozen=True)
class File:
    """The contract's `file`: a stream in its own media type; empty for deletes, starts and stops.

    headers: further ones, names in lower case.
    """

    content: bytes = b""
    media_type: str = "application/octet-stream"
    file_name: str | None = None
    headers: tuple[tuple[str, str], ...] = ()

    @property
    def disposition(self) -> str | None:
        """The Content-Disposition header (RFC 6266), where the file has a name; any name is safe there."""
        if not self.file_name:
            return None
        plain = re.sub(r"[^\w .()-]", "_", self.file_name, flags=re.ASCII)
        header = f'attachment; filename="{plain}"'
        if plain == self.file_name:
            return header
        return f"{header}; filename*=UTF-8''{quote(self.file_name, safe='', errors='replace')}"


@dataclass(frozen=True)
class EventStream:
    """Server-sent events, sent as they come until the caller leaves or the server stops.

    events: encoded events (`id:`, `event:`, `data:` lines and a blank one); closed when the answer ends.
    """

    events: AsyncIterator[bytes]
