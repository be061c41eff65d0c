"""Operations of OpenAPI documents as the API shows them (specification 1, "Integration resources")."""

from enum import IntEnum
from typing import Any, cast

from penstock.kernel.wire import Int32, Wire


class OpenApiOperationParameterKind(IntEnum):
    """Where a parameter stands: 0 path, 1 query, 2 header (cookies among them)."""

    PATH = 0
    QUERY = 1
    HEADER = 2


_NONE = cast("HttpMethod", None)
"""The published type says that the methods of a method are always there, which nothing finite can be."""


class HttpMethod(Wire):
    """A method of HTTP. Http3EncodedBytes: the header field of HTTP/3 that names it. The methods in it are null."""

    get: "HttpMethod" = _NONE
    put: "HttpMethod" = _NONE
    post: "HttpMethod" = _NONE
    delete: "HttpMethod" = _NONE
    head: "HttpMethod" = _NONE
    options: "HttpMethod" = _NONE
    trace: "HttpMethod" = _NONE
    patch: "HttpMethod" = _NONE
    connect: "HttpMethod" = _NONE
    method: str = ""
    must_have_request_body: bool = False
    http3_encoded_bytes: bytes = b""


class OpenApiOperationField(Wire):
    """A field of a body. Name: with the names of the objects around it, such as `lines[].price`."""

    name: str | None = None
    type: str | None = None
    description: str | None = None


class OpenApiOperationResponse(Wire):
    """An answer. HTTPResponseCode: 0 for the answer to everything else."""

    h_t_t_p_response_code: Int32
    h_t_t_p_response_message: str | None = None
    description: str | None = None
    response_content_type: str | None = None
    fields: list[OpenApiOperationField] | None = None


class OpenApiOperationParameter(Wire):
    """A parameter. Options: the values that are allowed, where they are listed."""

    name: str | None = None
    type: str | None = None
    description: str | None = None
    required: bool = False
    kind: OpenApiOperationParameterKind
    options: list[Any] | None = None


class OpenApiOperationRequest(Wire):
    """A form that the body may have."""

    request_content_type: str | None = None
    fields: list[OpenApiOperationField] | None = None


class OpenApiOperation(Wire):
    """An operation. Url: its path behind the route of the endpoint."""

    method: HttpMethod | None = None
    description: str | None = None
    tags: list[str] | None = None
    operation_id: str | None = None
    summary: str | None = None
    url: str | None = None
    responses: list[OpenApiOperationResponse] | None = None
    parameters: list[OpenApiOperationParameter] | None = None
    requests: list[OpenApiOperationRequest] | None = None
