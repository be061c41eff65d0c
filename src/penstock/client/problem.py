"""Answers that are errors, as exceptions of the one error family."""

from typing import TypeVar

import httpx
import msgspec

from penstock.kernel.errors import TOLD, FieldError, Invalid, PenstockError, TooManyRequests, Unavailable

T = TypeVar("T")


class Unreachable(PenstockError):
    """Nothing answers at the server's address, or the connection broke; whether a change was made is unknown."""

    code = "unreachable"
    title = "The server cannot be reached"

    def __init__(self, address: str, reason: str = "") -> None:
        super().__init__(f"no server answers at {address}" + (f" ({reason})" if reason else ""))
        self.address = address


class NotPenstock(PenstockError):
    """Something answers at the address, but not as a Penstock server does."""

    code = "not-penstock"
    title = "The answer is not that of a Penstock server"

    def __init__(self, answer: httpx.Response) -> None:
        url = answer.request.url
        super().__init__(f"{url.scheme}://{url.netloc.decode()} does not answer as a Penstock server does")


class _Field(msgspec.Struct):
    field: str = ""
    message: str = ""


class _Problem(msgspec.Struct):
    """The members of an RFC 9457 document that a person is told."""

    title: str = ""
    code: str = ""
    detail: str = ""
    errors: list[_Field] = []


# Some statuses come without a body that has the code.
_CODES = {
    400: "invalid",
    401: "unauthenticated",
    403: "forbidden",
    404: "not-found",
    409: "name-taken",
    412: "stale",
    413: "too-large",
    415: "unsupported-media-type",
    429: "too-many-requests",
    503: "unavailable",
}


def decoded(answer: httpx.Response, wanted: type[T]) -> T:
    """The answer's JSON as the type; the body must have been read. Raises what the server told, or NotPenstock."""
    if answer.is_error:
        raise error_of(answer)
    try:
        return msgspec.json.decode(answer.content, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise NotPenstock(answer) from None


def error_of(answer: httpx.Response) -> PenstockError:
    """What an answer of 400 or above says; its body must have been read."""
    problem = _problem(answer)
    kind = TOLD.get(problem.code) or TOLD.get(_CODES.get(answer.status_code, ""), PenstockError)
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
