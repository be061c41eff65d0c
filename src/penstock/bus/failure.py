"""Errors that crossed the bus: JetStream's, and those that a responder raised."""

from collections.abc import Mapping

import msgspec

from penstock.kernel.errors import TOLD, Invalid, NotFound, PenstockError, Stale, TooLarge, Unavailable

_CODE = "Penstock-Error"
_DETAIL = "Penstock-Error-Detail"
_DETAIL_LENGTH = 2000

# github.com/nats-io/nats-server, server/errors.json
_WRONG_LAST_SEQUENCE = (10071, 10164)
_TOO_LARGE = (10054,)


class ApiError(msgspec.Struct, frozen=True):
    """The error of a JetStream answer: an HTTP-like code, and `err_code`, which names it exactly."""

    code: int = 0
    err_code: int = 0
    description: str = ""


def refusal(error: ApiError) -> PenstockError:
    """What a JetStream error means to our callers."""
    if error.err_code in _WRONG_LAST_SEQUENCE:
        return Stale()
    if error.err_code in _TOO_LARGE:
        return TooLarge()
    if error.code == 404:
        return NotFound(error.description)
    if error.code == 400:
        return Invalid.one("", error.description)
    return Unavailable(f"The bus refuses: {error.description}")


def error_headers(error: PenstockError) -> dict[str, str]:
    """An answer's headers that tell the requester why there is no answer."""
    return {_CODE: error.code, _DETAIL: error.detail[:_DETAIL_LENGTH]}


def error_from(headers: Mapping[str, str]) -> PenstockError | None:
    """The error that an answer carries; field errors arrive as one text."""
    code = headers.get(_CODE)
    if code is None:
        return None
    detail = headers.get(_DETAIL, "")
    kind = TOLD.get(code, PenstockError)
    return Invalid.one("", detail) if issubclass(kind, Invalid) else kind(detail)
