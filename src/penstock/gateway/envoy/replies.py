"""Answers that Envoy gives by itself, as problem documents (RFC 9457) like those of the servers."""

from typing import NamedTuple

from penstock.gateway.envoy.typed import Json

_MEDIA_TYPE = "application/problem+json"
_DIRECT = "%LOCAL_REPLY_BODY%"


class _Problem(NamedTuple):
    """detail: the words of the route that answered, unless Envoy's own would be shown, which name addresses."""

    status: int
    code: str
    title: str
    detail: str = _DIRECT


_PROBLEMS = (
    _Problem(401, "unauthenticated", "Valid credentials are needed"),
    _Problem(403, "forbidden", "Not allowed"),
    _Problem(404, "not-found", "Not found", "No API has this path"),
    _Problem(400, "invalid", "The request is not valid", "The request cannot be passed on as it is"),
    _Problem(408, "request-timeout", "The request took too long", "Nothing more of the request came"),
    _Problem(413, "too-large", "The body is too large", "The body is larger than can be held"),
    _Problem(431, "headers-too-large", "The headers are too large", "There are too many headers, or too long ones"),
    _Problem(429, "too-many-requests", "Too many requests"),
    _Problem(502, "bad-gateway", "The API cannot be used", "The API's server broke off, or did not speak HTTP"),
    _Problem(503, "unavailable", "Temporarily unavailable", "No server of the API can be reached at the moment"),
    _Problem(504, "overdue", "It takes longer than is waited for", "The API's server did not answer in time"),
)
_BROKE_OFF = ["UC", "UR", "UPE"]
"""Envoy's flags for an upstream that ended the connection, reset the request, or said what is no HTTP."""


def local_replies() -> Json:
    """The first mapper whose filter matches is the one that counts."""
    return {"mappers": [_broken_off(), *(_mapper(each) for each in _PROBLEMS)]}


def _mapper(problem: _Problem) -> Json:
    return {"filter": _status(problem.status), **_body(problem)}


def _broken_off() -> Json:
    problem = next(each for each in _PROBLEMS if each.status == 502)
    return {"filter": {"response_flag_filter": {"flags": _BROKE_OFF}}, "status_code": 502, **_body(problem)}


def _status(status: int) -> Json:
    value = {"default_value": status, "runtime_key": f"gateway.status_{status}"}
    return {"status_code_filter": {"comparison": {"op": "EQ", "value": value}}}


def _body(problem: _Problem) -> Json:
    document = {
        "type": f"urn:penstock:problem:{problem.code}",
        "title": problem.title,
        "status": "%RESPONSE_CODE%",
        "code": problem.code,
        "detail": problem.detail,
        "instance": "urn:penstock:request:%REQ(X-REQUEST-ID)%",
    }
    return {"body_format_override": {"json_format": document, "content_type": _MEDIA_TYPE}}
