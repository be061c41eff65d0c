"""The writes. A commit takes any number of them and does all or none."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import msgspec

from penstock.store.definition import Collection, Journal


@dataclass(frozen=True)
class Insert:
    """A new document.

    body: a Struct of the collection's type; it is encoded as the HTTP API would answer it.
    sealed: encrypted bytes kept beside the body and never part of an answer.
    expires_at: from then on the document is gone from every read.
    Raises NameTaken when a unique column's value or the id is present.
    """

    collection: Collection[Any]
    id: UUID
    e_tag: str
    body: msgspec.Struct
    at: datetime
    expires_at: datetime | None = None
    sealed: bytes | None = None


@dataclass(frozen=True)
class Replace:
    """A new body for a live document; creation time is kept.

    expected: the ETag that the live document must have; None replaces whatever is there.
    sealed: None removes what was sealed, unless `keep_sealed`.
    Raises NotFound, Stale, NameTaken.
    """

    collection: Collection[Any]
    id: UUID
    e_tag: str
    body: msgspec.Struct
    at: datetime
    expected: str | None = None
    expires_at: datetime | None = None
    sealed: bytes | None = None
    keep_sealed: bool = False


@dataclass(frozen=True)
class Delete:
    """Soft deletion; the name is free at once, the row is purged later. Raises NotFound, Stale."""

    collection: Collection[Any]
    id: UUID
    at: datetime
    expected: str | None = None


@dataclass(frozen=True)
class Require:
    """Changes nothing, but the commit only happens while the document is live; nobody changes it meanwhile.

    Commits that need each other's documents do not have to wait for a deadlock to be noticed when all of them write
    in the order of the ids.
    expected: the ETag that it must have; None takes any. Raises NotFound, Stale.
    """

    collection: Collection[Any]
    id: UUID
    expected: str | None = None


@dataclass(frozen=True)
class Append:
    """Entries for a journal; those whose key is present are passed over.

    replace: takes their place instead; then no two of `entries` may have one key.
    """

    journal: Journal[Any]
    entries: Sequence[msgspec.Struct]
    replace: bool = False


Write = Insert | Replace | Delete | Require | Append
