"""The Parameters of a version: where its requests go, by the version's Type."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from penstock.areas.apim.header_checks import header_errors
from penstock.connectors.reference import names_in
from penstock.egress.guarded_http import http_host
from penstock.kernel.duration import Duration
from penstock.kernel.errors import FieldError
from penstock.kernel.wire import Map, Wire

_PATH = re.compile(r"/[!-~]*", re.ASCII)
_LONGEST = 2000
_SHORTEST_TIME = Duration(milliseconds=1)
_LONGEST_TIME = Duration(hours=1)


class UpstreamType(StrEnum):
    """What serves a version."""

    ADDRESS = "address"
    ENDPOINT = "endpoint"
    TRIGGER = "trigger"


class UpstreamParameters(Wire):
    """What every type takes.

    Timeout: for the whole answer. Retries: of requests that may be repeated. HealthPath: asked for whether a host is
    well, below the address. Headers: added to each request. Deprecated, Sunset: told to callers. OpenApi: the address
    of its OpenAPI document (JSON), or the document. `{{var:NAME}}` in HealthPath and in values of Headers is replaced.
    """

    timeout: Duration = Duration(seconds=60)
    retries: Annotated[int, msgspec.Meta(ge=0, le=10)] = 1
    health_path: str | None = None
    headers: dict[str, str] = {}
    deprecated: datetime | None = None
    sunset: datetime | None = None
    open_api: str | Map | None = None


class AddressParameters(UpstreamParameters):
    """Url: http or https, with or without a path; `{{var:NAME}}` in it is replaced."""

    url: str


class EndpointParameters(UpstreamParameters):
    """Endpoint: the route of an endpoint; each agent serves it that is online and has it ready."""

    endpoint: str


class TriggerParameters(UpstreamParameters):
    """Trigger: the route or the name of a web trigger or notebook endpoint, which the servers themselves serve."""

    trigger: str


UPSTREAMS: Mapping[UpstreamType, type[UpstreamParameters]] = {
    UpstreamType.ADDRESS: AddressParameters,
    UpstreamType.ENDPOINT: EndpointParameters,
    UpstreamType.TRIGGER: TriggerParameters,
}


def upstream_errors(parameters: UpstreamParameters) -> Sequence[FieldError]:
    """What is wrong whatever else there is."""
    errors = header_errors("Parameters.Headers", parameters.headers)
    if not _SHORTEST_TIME <= parameters.timeout <= _LONGEST_TIME:
        errors.append(FieldError("Parameters.Timeout", "must be more than 0 and at most an hour"))
    health = parameters.health_path
    if health is not None and not names_in(health) and not (_PATH.fullmatch(health) and len(health) <= _LONGEST):
        errors.append(FieldError("Parameters.HealthPath", "must be a path like /health"))
    if parameters.deprecated and parameters.sunset and parameters.sunset < parameters.deprecated:
        errors.append(FieldError("Parameters.Sunset", "must not be before Deprecated"))
    if isinstance(parameters.open_api, str):
        errors += _document_errors(parameters.open_api)
    if isinstance(parameters, AddressParameters) and (problem := url_problem(parameters.url)):
        errors.append(FieldError("Parameters.Url", problem))
    return errors


def _document_errors(address: str) -> Sequence[FieldError]:
    try:
        http_host(address)
    except ValueError as error:
        return [FieldError("Parameters.OpenApi", f"{error}, or an OpenAPI document")]
    return []


def url_problem(url: str) -> str | None:
    """What is wrong with the address of an upstream; nothing while variables are to be put into it."""
    if len(url) > _LONGEST:
        return f"must have at most {_LONGEST} characters"
    if names_in(url):
        return None
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return "must be an address like https://orders.example.com/v1"
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0 or not url.isascii():
        return "must be an address like https://orders.example.com/v1"
    if re.search(r"[\s\x00-\x1f\x7f\\]", url):
        return "must not have blanks or control characters"
    if parts.username is not None or parts.password is not None:
        return "must not have a user in it: add a header Authorization, with a variable as its value"
    if parts.query or parts.fragment or "?" in url or "#" in url:
        return "must not have a query or a fragment"
    return None
