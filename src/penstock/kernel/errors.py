"""The one error family. Each has a stable code; only the HTTP edge knows statuses."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from itertools import islice
from typing import ClassVar

import msgspec

_MOST_ERRORS = 1000
_SUMMED_UP = 20


class Fault(StrEnum):
    """What is wrong with a field: its value, its JSON type, or that there is no such field."""

    VALUE = "value"
    TYPE = "type"
    UNKNOWN = "unknown"


class FieldError(msgspec.Struct, frozen=True):
    """One thing wrong with the input.

    field: the wire path, like `Requirements[0].Identifier`, or the query parameter's name.
    message: what is allowed there. fault: tells programs what to make of it.
    """

    field: str
    message: str
    fault: Fault = Fault.VALUE


class PenstockError(Exception):
    """Base of every error that a caller can be told about."""

    code: ClassVar[str] = "error"
    title: ClassVar[str] = "Error"

    def __init__(self, detail: str = "") -> None:
        super().__init__(detail or self.title)
        self.detail = detail or self.title


class Invalid(PenstockError):
    """The input cannot be accepted; `errors` lists every bad field, up to a thousand."""

    code = "invalid"
    title = "The request is not valid"

    def __init__(self, errors: Iterable[FieldError], detail: str = "") -> None:
        self.errors = tuple(islice(errors, _MOST_ERRORS))
        super().__init__(detail or self._summary())

    @classmethod
    def one(cls, field: str, message: str) -> "Invalid":
        return cls([FieldError(field, message)])

    def _summary(self) -> str:
        told = [f"{each.field}: {each.message}" if each.field else each.message for each in self.errors[:_SUMMED_UP]]
        more = len(self.errors) - len(told)
        return "; ".join([*told, f"and {more} more"] if more else told)


class Unauthenticated(PenstockError):
    """Who calls is unknown: no credential, or one that does not hold."""

    code = "unauthenticated"
    title = "Valid credentials are needed"


class Forbidden(PenstockError):
    """Who calls is known and may not do this."""

    code = "forbidden"
    title = "Not allowed"


class NotFound(PenstockError):
    """The thing named does not exist, or is deleted or expired."""

    code = "not-found"
    title = "Not found"

    @classmethod
    def of(cls, kind: str, key: object) -> "NotFound":
        return cls(f"{kind} '{key}' does not exist")


class NameTaken(PenstockError):
    """Another entity of the kind has this unique name."""

    code = "name-taken"
    title = "The name is taken"


class InUse(PenstockError):
    """Something else needs what is to be removed; the detail names it."""

    code = "in-use"
    title = "It is in use"


class Stale(PenstockError):
    """The ETag given is not the current one; nothing was changed."""

    code = "stale"
    title = "The entity was changed meanwhile"


class TooLarge(PenstockError):
    """The body exceeds the limit of its operation."""

    code = "too-large"
    title = "The body is too large"


class UnsupportedMedia(PenstockError):
    """The body's media type is not one the operation reads."""

    code = "unsupported-media-type"
    title = "The media type is not supported"


class TooManyRequests(PenstockError):
    """A rate limit holds; `retry_after` is seconds."""

    code = "too-many-requests"
    title = "Too many requests"

    def __init__(self, detail: str = "", retry_after: int = 1) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class Unavailable(PenstockError):
    """Broker or database is away; `retry_after` is seconds."""

    code = "unavailable"
    title = "Temporarily unavailable"

    def __init__(self, detail: str = "", retry_after: int = 2) -> None:
        super().__init__(detail)
        self.retry_after = retry_after


class Overdue(PenstockError):
    """What was asked for goes on, and is not waited for any longer."""

    code = "overdue"
    title = "It takes longer than is waited for"


class UnusableFile(PenstockError):
    """A file that the program keeps cannot be read, written or understood; the detail names it."""

    code = "unusable-file"
    title = "A file cannot be used"


TOLD: Mapping[str, type[PenstockError]] = {
    kind.code: kind
    for kind in (
        Invalid,
        Unauthenticated,
        Forbidden,
        NotFound,
        NameTaken,
        InUse,
        Stale,
        TooLarge,
        UnsupportedMedia,
        TooManyRequests,
        Unavailable,
        Overdue,
    )
}
"""The errors that cross the network, by their codes."""


@contextmanager
def naming_files() -> Iterator[None]:
    """Within it, a failure to use a file is UnusableFile."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            raise
        raise UnusableFile(f"{error.filename}: {error.strerror}") from error
