"""Errors as RFC 9457 problem documents. Only here do errors meet HTTP statuses."""

from typing import Any

import msgspec

from penstock.engine.result import RunFailed
from penstock.kernel.errors import (
    Forbidden,
    InUse,
    Invalid,
    NameTaken,
    NotFound,
    Overdue,
    PenstockError,
    Stale,
    TooLarge,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
    UnsupportedMedia,
)
from penstock.resource.operation import Answer

MEDIA_TYPE = "application/problem+json"

STATUSES: dict[type[PenstockError], int] = {
    Invalid: 400,
    Unauthenticated: 401,
    Forbidden: 403,
    NotFound: 404,
    NameTaken: 409,
    InUse: 409,
    Stale: 412,
    TooLarge: 413,
    UnsupportedMedia: 415,
    RunFailed: 422,
    TooManyRequests: 429,
    Unavailable: 503,
    Overdue: 504,
}


class ProblemField(msgspec.Struct):
    """One bad field. field: its path in the body, or the parameter's name; message: what is allowed."""

    field: str
    message: str


class Problem(msgspec.Struct, omit_defaults=True):
    """An error (RFC 9457). code is stable and meant for programs; errors lists bad fields."""

    type: str
    title: str
    status: int
    code: str
    detail: str = ""
    instance: str = ""
    errors: list[ProblemField] = []


def status_of(error: PenstockError) -> int:
    """The status of an error's class, or of the nearest class it derives from."""
    return next(STATUSES[cls] for cls in type(error).__mro__ if cls in STATUSES)


def answer_for(error: PenstockError, instance: str, bodiless: frozenset[int] = frozenset()) -> Answer:
    """The response to an error. instance: the request's id."""
    status = status_of(error)
    headers: tuple[tuple[str, str], ...] = ()
    if isinstance(error, TooManyRequests | Unavailable):
        headers += (("retry-after", str(error.retry_after)),)
    if isinstance(error, Unauthenticated):
        headers += (("www-authenticate", 'Bearer realm="penstock"'),)
    if status in bodiless:
        return Answer(status, b"", "", headers)
    errors = [ProblemField(e.field, e.message) for e in error.errors] if isinstance(error, Invalid) else []
    return problem(status, error.code, error.title, error.detail, instance, headers, errors)


def problem(
    status: int,
    code: str,
    title: str,
    detail: str = "",
    instance: str = "",
    headers: tuple[tuple[str, str], ...] = (),
    errors: Any = (),
) -> Answer:
    """A problem document as a response."""
    document = Problem(
        type=f"urn:penstock:problem:{code}",
        title=title,
        status=status,
        code=code,
        detail=detail if detail != title else "",
        instance=f"urn:penstock:request:{instance}" if instance else "",
        errors=list(errors),
    )
    return Answer(status, msgspec.json.encode(document), MEDIA_TYPE, headers)
