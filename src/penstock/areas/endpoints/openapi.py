"""OpenAPI documents read: their operations with parameters, bodies and answers. What is wrong in one is left out."""

from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from typing import Any

import msgspec

from penstock.areas.endpoints.openapi_model import (
    HttpMethod,
    OpenApiOperation,
    OpenApiOperationField,
    OpenApiOperationParameter,
    OpenApiOperationParameterKind,
    OpenApiOperationRequest,
    OpenApiOperationResponse,
)

_METHODS = ("get", "put", "post", "delete", "head", "options", "trace", "patch")
_KINDS = {"path": OpenApiOperationParameterKind.PATH, "query": OpenApiOperationParameterKind.QUERY}
_STATIC_TABLE = {"GET": 17, "HEAD": 18, "OPTIONS": 19, "POST": 20, "PUT": 21, "CONNECT": 15, "DELETE": 16}
"""Places of `:method` in the static table of QPACK (RFC 9204, appendix A)."""
_METHOD_NAME = 15  # a place with the name `:method`, for methods that the table does not have
_DEEPEST = 8
_MOST_FIELDS = 500
_MOST_OPERATIONS = 2000

Object = Mapping[str, Any]


class OpenApiDocument:
    """A document. `$ref`s within it are followed, round and round once; those to elsewhere lead nowhere."""

    def __init__(self, text: str) -> None:
        found = msgspec.json.decode(text)
        self._document: Object = found if isinstance(found, dict) else {}

    def with_servers(self, addresses: Sequence[str]) -> str:
        """The document as text, its servers being these addresses."""
        servers = [{"url": address} for address in addresses]
        return msgspec.json.encode({**self._document, "servers": servers}).decode()

    def operations(self, route: str) -> list[OpenApiOperation]:
        """Every operation, in the document's order. route: of the endpoint."""
        found: list[OpenApiOperation] = []
        for path, item in _object(self._document.get("paths")).items():
            whole = self._followed(item)
            for method in _METHODS:
                if isinstance(whole.get(method), dict) and len(found) < _MOST_OPERATIONS:
                    found.append(self._operation(route.rstrip("/") + path, method, whole))
        return found

    def _operation(self, url: str, method: str, item: Object) -> OpenApiOperation:
        operation = item[method]
        return OpenApiOperation(
            method=_method(method.upper()),
            description=_text(operation.get("description")),
            tags=[str(tag) for tag in _list(operation.get("tags"))],
            operation_id=_text(operation.get("operationId")) or f"{method} {url}",
            summary=_text(operation.get("summary")),
            url=url,
            responses=list(self._responses(operation)),
            parameters=list(self._parameters(item, operation)),
            requests=list(self._requests(operation)),
        )

    def _parameters(self, item: Object, operation: Object) -> Iterator[OpenApiOperationParameter]:
        """Those of the path and of the operation, which counts where both have one."""
        own = [self._followed(each) for each in _list(operation.get("parameters"))]
        names = {(each.get("in"), each.get("name")) for each in own}
        shared = [self._followed(each) for each in _list(item.get("parameters"))]
        for parameter in [*(each for each in shared if (each.get("in"), each.get("name")) not in names), *own]:
            place = str(parameter.get("in"))
            if place == "body":  # of Swagger 2.0: a body, see `_requests`
                continue
            schema = self._followed(parameter.get("schema", parameter))
            yield OpenApiOperationParameter(
                name=_text(parameter.get("name")),
                type=self._type(schema),
                description=_text(parameter.get("description")),
                required=parameter.get("required") is True,
                kind=_KINDS.get(place, OpenApiOperationParameterKind.HEADER),
                options=_list(schema.get("enum")) or None,
            )

    def _requests(self, operation: Object) -> Iterator[OpenApiOperationRequest]:
        body = self._followed(operation.get("requestBody"))
        for media_type, media in _object(body.get("content")).items():
            yield OpenApiOperationRequest(request_content_type=media_type, fields=self._fields(_object(media)))
        for parameter in map(self._followed, _list(operation.get("parameters"))):
            if parameter.get("in") == "body":
                consumed = _list(operation.get("consumes") or self._document.get("consumes")) or ["application/json"]
                yield OpenApiOperationRequest(request_content_type=str(consumed[0]), fields=self._fields(parameter))

    def _responses(self, operation: Object) -> Iterator[OpenApiOperationResponse]:
        for code, given in _object(operation.get("responses")).items():
            response = self._followed(given)
            number = int(code) if str(code).isascii() and str(code).isdigit() and len(str(code)) == 3 else 0
            content = _object(response.get("content")) or {"": response}
            for media_type, media in content.items():
                yield OpenApiOperationResponse(
                    h_t_t_p_response_code=number,
                    h_t_t_p_response_message=_phrase(number),
                    description=_text(response.get("description")),
                    response_content_type=media_type or None,
                    fields=self._fields(_object(media)),
                )

    def _fields(self, media: Object) -> list[OpenApiOperationField]:
        found: list[OpenApiOperationField] = []
        self._collect(media.get("schema"), "", None, found, ())
        return found

    def _collect(
        self,
        given: Any,
        name: str,
        description: str | None,
        found: list[OpenApiOperationField],
        around: tuple[int, ...],
    ) -> None:
        """Adds the field and those in it. around: the schemas that it is in, so that a circle ends."""
        schema = self._followed(given)
        if not schema or len(found) >= _MOST_FIELDS:
            return
        if name:
            told = _text(schema.get("description")) or description
            found.append(OpenApiOperationField(name=name, type=self._type(schema), description=told))
        if id(schema) in around or len(around) >= _DEEPEST:
            return
        inside = (*around, id(schema))
        if isinstance(schema.get("items"), dict):
            self._collect_inside(self._followed(schema["items"]), f"{name}[]", found, inside)
        self._collect_inside(schema, name, found, inside)

    def _collect_inside(
        self, schema: Object, name: str, found: list[OpenApiOperationField], around: tuple[int, ...]
    ) -> None:
        for part in (schema, *map(self._followed, _list(schema.get("allOf")))):
            for field, inner in _object(part.get("properties")).items():
                self._collect(inner, f"{name}.{field}" if name else field, None, found, (*around, id(part)))

    def _type(self, schema: Object) -> str | None:
        kinds = schema.get("type")
        names = [str(kind) for kind in _list(kinds) if kind != "null"] or ([kinds] if isinstance(kinds, str) else [])
        if names == ["array"]:
            return f"array of {self._type(self._followed(schema.get('items'))) or 'any'}"
        if not names:
            alternatives = [
                self._type(self._followed(each)) for each in _list(schema.get("anyOf") or schema.get("oneOf"))
            ]
            names = [kind for kind in alternatives if kind] or (
                ["object"] if "properties" in schema or "allOf" in schema else []
            )
        form = schema.get("format")
        return f"{' or '.join(names)}{f' ({form})' if form else ''}" if names else None

    def _followed(self, value: Any) -> Object:
        """What a `$ref` leads to, through further ones; the value itself without one."""
        seen: set[str] = set()
        while isinstance(value, dict) and isinstance(value.get("$ref"), str):
            reference = value["$ref"]
            if reference in seen or not reference.startswith("#/"):
                return {}
            seen.add(reference)
            value = self._at(reference)
        return _object(value)

    def _at(self, reference: str) -> Any:
        value: Any = self._document
        for part in reference.removeprefix("#/").split("/"):
            value = _object(value).get(part.replace("~1", "/").replace("~0", "~"))
        return value


def _method(name: str) -> HttpMethod:
    place = _STATIC_TABLE.get(name)
    encoded = bytes([0xC0 | place]) if place is not None else _literal(name)
    return HttpMethod(method=name, must_have_request_body=name in ("POST", "PUT", "PATCH"), http3_encoded_bytes=encoded)


def _literal(name: str) -> bytes:
    """A field line whose name is in the static table, and its value not (RFC 9204, 4.5.4)."""
    return bytes([0x5F, _METHOD_NAME - 15, len(name)]) + name.encode()


def _phrase(code: int) -> str | None:
    try:
        return HTTPStatus(code).phrase
    except ValueError:
        return None


def _object(value: Any) -> Object:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int | float) else None
