"""A request to a route, and the parameters that it gives a script."""

import base64
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

import msgspec

from penstock.connectors import http_body
from penstock.engine.documents.types import fits, is_text
from penstock.kernel.errors import Invalid
from penstock.kernel.wire import encode
from penstock.resource.ports.runs import RunParameter
from penstock.resource.ports.scripts import DeclaredParameter, KnownScript

_FORM = "application/x-www-form-urlencoded"
_MOST_FIELDS = 1000
_BODY, _METHOD = "body", "method"


@dataclass(frozen=True)
class WebRequest:
    """query: undecoded. content_type: empty without one."""

    method: str
    query: bytes
    content_type: str
    body: bytes


def parameters_of(request: WebRequest, script: KnownScript, fixed: Collection[str]) -> list[RunParameter]:
    """Values for the script's parameters that the request has, those that are fixed left out.

    Fields of a JSON object or form come before those of the query. Whatever is no parameter is left out. Raises
    Invalid for a query or body that cannot be read.
    """
    texts = _texts(request.query.decode("ascii", "replace"), "the query string")
    data: Any = None
    if request.content_type.partition(";")[0].strip().lower() == _FORM:
        texts |= _texts(request.body.decode("utf-8", "replace"), "the body")
        data = request.body.decode("utf-8", "replace")
    elif request.body:
        data = _data(request)
    fields = data if isinstance(data, dict) else {}
    given = {
        parameter.name: value
        for parameter in script.parameters
        if parameter.name not in fixed
        for value in _values(parameter, texts, fields, request.method, data)
    }
    return [RunParameter(name=name, value_json=encode(value).decode()) for name, value in given.items()]


def _values(
    parameter: DeclaredParameter, texts: Mapping[str, list[str]], fields: Mapping[str, Any], method: str, data: Any
) -> Iterator[Any]:
    """The value of a parameter, if the request has one."""
    if parameter.name in fields:
        yield fields[parameter.name]
    elif parameter.name in texts:
        yield _typed(texts[parameter.name], parameter.type)
    elif parameter.name == _BODY and data is not None:
        yield data
    elif parameter.name == _METHOD:
        yield method


def _data(request: WebRequest) -> Any:
    data = http_body.body_of(request.content_type, request.body)[1] if request.content_type else None
    if data is None:
        data = http_body.guessed(request.body)[1]
    return base64.b64encode(data).decode() if isinstance(data, bytes) else data


def _texts(text: str, place: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    try:
        for name, value in parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS):
            found.setdefault(name, []).append(value)
    except ValueError:
        raise Invalid.one("", f"{place} has more than {_MOST_FIELDS} fields") from None
    return found


def _typed(texts: list[str], type: str) -> Any:
    """A text as the parameter's type, or as it is when it is no such thing; several are an array."""
    if is_text(type):
        return texts[-1]
    values = [_json(text) for text in texts]
    if len(values) > 1:
        return values
    if type == "array" and not fits(values[0], type):
        return values
    return values[0]


def _json(text: str) -> Any:
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError):
        return text
