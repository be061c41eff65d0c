"""Answers that are errors, as exceptions of the one error family."""

import httpx
import msgspec

from penstock.kernel.errors import (
    FieldError,
    Forbidden,
    Invalid,
    NameTaken,
    NotFound,
    PenstockError,
    Stale,
    TooLarge,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
    UnsupportedMedia,
)


class Unreachable(PenstockError):
    """Nothing answers at the server's address, or the connection broke; whether a change was made is unknown."""

    code = "unreachable"
    title = "The server cannot be reached"

    def __init__(self, address: str, reason: str = "") -> None:
        super().__init__(f"no server answers at {address}" + (f" ({reason})" if reason else ""))
        self.address = address


class _Field(msgspec.Struct):
    field: str = ""
    message: str = ""


class _Problem(msgspec.Struct):
    """The members of an RFC 9457 document that a person is told."""

    title: str = ""
    code: str = ""
    detail: str = ""
    errors: list[_Field] = []


_BY_STATUS: dict[int, type[PenstockError]] = {
    400: Invalid,
    401: Unauthenticated,
    403: Forbidden,
    404: NotFound,
    409: NameTaken,
    412: Stale,
    413: TooLarge,
    415: UnsupportedMedia,
    429: TooManyRequests,
    503: Unavailable,
}
_BY_CODE = {kind.code: kind for kind in _BY_STATUS.values()}


def error_of(answer: httpx.Response) -> PenstockError:
    """What an answer of 400 or above says; its body must have been read."""
    problem = _problem(answer)
    kind = _BY_CODE.get(problem.code) or _BY_STATUS.get(answer.status_code, PenstockError)
    told = problem.detail or problem.title or f"the server answers {answer.status_code} {answer.reason_phrase}"
    if issubclass(kind, Invalid):
        return kind([FieldError(each.field, each.message) for each in problem.errors], told)
    if issubclass(kind, TooManyRequests | Unavailable):
        return kind(told, _seconds(answer.headers.get("retry-after", "")))
    return kind(told)


def _problem(answer: httpx.Response) -> _Problem:
    try:
        return msgspec.json.decode(answer.content, type=_Problem)
    except msgspec.DecodeError:  # six statuses have no body, and a proxy answers as it likes
        return _Problem()


def _seconds(text: str) -> int:
    return int(text) if text.isdigit() else 1
