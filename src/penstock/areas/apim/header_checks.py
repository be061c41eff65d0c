"""Headers that are added to requests."""

import re
from collections.abc import Mapping
from typing import Any

from penstock.connectors.reference import is_reference, names_in
from penstock.kernel.errors import FieldError

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", re.ASCII)
_VALUE = re.compile(r"[ -~\t]*", re.ASCII)
_LONGEST = 4096
_MOST = 50
_OWN = frozenset(
    (
        *("connection", "content-length", "expect", "host", "keep-alive", "proxy-authenticate", "proxy-authorization"),
        *("proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"),
    )
)
_SECRET = re.compile(r"auth|cookie|credential|key|passw|secret|token", re.IGNORECASE)
_SCHEME = re.compile(r"(basic|bearer|apikey|token)\s+", re.IGNORECASE)


def header_errors(field: str, headers: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with headers to be added. Whoever may read sees them, so secrets must stand in variables."""
    errors = []
    if len(headers) > _MOST:
        errors.append(FieldError(field, f"must be at most {_MOST}"))
    names = [name.casefold() for name in headers]
    for name, value in headers.items():
        at = f"{field}.{name}"
        if not _NAME.fullmatch(name) or name.casefold() in _OWN or name.casefold().startswith("x-envoy-"):
            errors.append(FieldError(at, "is not a header that can be added"))
        elif names.count(name.casefold()) > 1:
            errors.append(FieldError(at, "is given more than once; case makes no difference"))
        elif not isinstance(value, str) or not _VALUE.fullmatch(value) or len(value) > _LONGEST:
            errors.append(FieldError(at, f"must be at most {_LONGEST} printable characters"))
        elif _SECRET.search(name) and value and not is_reference(_SCHEME.sub("", value, count=1)):
            errors.append(FieldError(at, "looks like a secret: put it into a variable and write {{var:NAME}} here"))
    return errors


def is_sendable(value: str) -> bool:
    """Whether a value, variables in it replaced, can be sent."""
    return _VALUE.fullmatch(value) is not None and not names_in(value)
