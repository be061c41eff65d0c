"""Operations of the HTTP API, declared on handler methods; the server binds them to its web framework.

A handler's signature is its contract: path and query parameters, `Body[T]` or `UndecodedText`, `Filter[T]`, `Actor`,
and what it returns.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar, cast, get_type_hints
from urllib.parse import urlencode

import msgspec

from penstock.kernel.actor import Role
from penstock.kernel.errors import FieldError, Forbidden, Invalid, Unauthenticated
from penstock.kernel.shape import shape_of
from penstock.kernel.wire import encode, wire_name
from penstock.resource.answer import Done, Encoded, EventStream, File
from penstock.resource.call import Call
from penstock.resource.parameter import BODIES, Parameter, Place, parameters_of, parse_query, parse_text, read_body

Handler = Callable[..., Awaitable[Any]]
H = TypeVar("H", bound=Handler)

MIB = 1 << 20
NO_CONTENT = 204
JSON = "application/json"
EVENT_STREAM = "text/event-stream"


@dataclass(frozen=True)
class Declaration:
    """What the decorator on a handler says.

    roles: who may call; any of them suffices; none means open to everyone.
    own: the path or query parameter that must be an agent caller's own id.
    bodiless: statuses answered without a body: errors (specification 3, Errors), and 204 in place of nothing found.
    limit: the largest body in bytes.
    beyond: not in the specification's endpoint list.
    any_query: the query is nobody's business but the handler's, which reads it from the Call.
    """

    method: str
    path: str
    roles: tuple[Role, ...]
    status: int = 200
    own: str | None = None
    bodiless: frozenset[int] = frozenset()
    limit: int = MIB
    beyond: bool = False
    any_query: bool = False


def operation(
    method: str,
    path: str,
    *roles: Role,
    status: int = 200,
    own: str | None = None,
    bodiless: frozenset[int] = frozenset(),
    limit: int = MIB,
    beyond: bool = False,
    any_query: bool = False,
) -> Callable[[H], H]:
    """Declares a handler method as an operation. See Declaration for the options.

    Used several times on one handler it declares as many operations.
    """

    def declare(handler: H) -> H:
        declaration = Declaration(method, path, roles, status, own, bodiless, limit, beyond, any_query)
        handler.__operations__ = (declaration, *_declarations(handler))  # type: ignore[attr-defined]
        return handler

    return declare


@dataclass(frozen=True, slots=True)
class Answer:
    """A response, ready to be sent: `body`, or what `stream` yields. done: see Encoded."""

    status: int
    body: bytes
    media_type: str
    headers: tuple[tuple[str, str], ...] = ()
    stream: AsyncIterator[bytes] | None = None
    done: Done | None = None


class Operation:
    """A declared handler bound to its object.

    about: what its handlers are about. id: made of area, about unless that is the area itself, and handler.
    """

    def __init__(self, area: str, about: str, handler: Handler, declaration: Declaration) -> None:
        self.declaration = declaration
        self.area = area
        self.handler = handler
        self.id = _id(area, about, handler, declaration)
        self.docs = (handler.__doc__ or "").strip()
        self.path_names = re.findall(r"\{(\w+)\}", self.declaration.path)
        self.parameters = parameters_of(handler, set(self.path_names))
        self.returns = get_type_hints(handler, include_extras=True).get("return")
        self.query = {p.name: p for p in _query_parameters(self.parameters)}
        self._from_path = [p for p in self.parameters if p.place is Place.PATH]
        self._body = next((p for p in self.parameters if p.place in BODIES), None)

    @property
    def body(self) -> Parameter | None:
        """The parameter that takes the request's body."""
        return self._body

    async def __call__(self, call: Call) -> Answer:
        """Authorises, parses, calls the handler and encodes what it returns."""
        self._authorise(call)
        arguments = await self._arguments(call)
        return self._answer(await self.handler(**arguments), call)

    def _authorise(self, call: Call) -> None:
        if not self.declaration.roles:
            return
        if call.actor is None:
            raise Unauthenticated
        if not any(call.actor.may(role) for role in self.declaration.roles):
            needed = " or ".join(self.declaration.roles)
            raise Forbidden(f"this operation needs the role {needed}")

    async def _arguments(self, call: Call) -> dict[str, Any]:
        errors: list[FieldError] = []
        arguments: dict[str, Any] = {}
        for p in self._from_path:
            arguments[p.argument] = parse_text(p.name, [call.path_values[p.name]], p.shape, errors)
        query = {} if self.declaration.any_query else parse_query(call.query, self.query, errors)
        if self._body is not None:
            try:
                arguments[self._body.argument] = await read_body(call, self._body, self.declaration.limit)
            except Invalid as error:
                errors += error.errors
        if errors:
            raise Invalid(errors)
        for p in self.parameters:
            self._fill(p, call, query, arguments)
        self._check_own(call, arguments)
        return arguments

    def _fill(self, p: Parameter, call: Call, query: dict[str, Any], arguments: dict[str, Any]) -> None:
        match p.place:
            case Place.QUERY if p.name in query:
                arguments[p.argument] = query[p.name]
            case Place.FILTER:
                fields = msgspec.structs.fields(p.shape.type)
                given = {f.name: query[f.encode_name] for f in fields if f.encode_name in query}
                arguments[p.argument] = p.shape.type(**given)
            case Place.ACTOR:
                arguments[p.argument] = call.actor
            case Place.CALL:
                arguments[p.argument] = call
            case Place.IF_MATCH:
                arguments[p.argument] = _if_match(call)

    def _check_own(self, call: Call, arguments: dict[str, Any]) -> None:
        own, actor = self.declaration.own, call.actor
        if own and actor and actor.agent_id is not None and arguments[own] != actor.agent_id:
            raise Forbidden("an agent may only use its own id")

    def _answer(self, result: Any, call: Call) -> Answer:
        status = self.declaration.status
        match result:
            case None:
                return Answer(NO_CONTENT if NO_CONTENT in self.declaration.bodiless else status, b"", "")
            case Encoded():
                headers = _headers(result.e_tag, _next_query(result), call)
                return Answer(status, result.body, JSON, headers, done=result.done)
            case File():
                named = (("content-disposition", result.disposition),) if result.disposition else ()
                return Answer(status, result.content, result.media_type, (*named, *result.headers))
            case EventStream():
                return Answer(status, b"", EVENT_STREAM, _UNCACHED, result.events)
            case Answer():
                return result
        return Answer(status, encode(result), JSON, _headers(getattr(result, "e_tag", None), None, call))


_UNCACHED = (("cache-control", "no-store"),)


def operations_of(area: str, handlers: object) -> list[Operation]:
    """The operations declared on an object's methods."""
    methods = [getattr(handlers, name) for name in dir(type(handlers)) if not name.startswith("__")]
    about = re.sub(r"(?:Operations|Handlers)$", "", type(handlers).__name__)
    return [
        Operation(area, about, cast(Handler, method), declaration)
        for method in methods
        for declaration in _declarations(method)
    ]


def _id(area: str, about: str, handler: Handler, declaration: Declaration) -> str:
    noun = [] if area.removesuffix("s") == about.lower() else [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", about).lower()]
    several = [declaration.method.lower()] if len(_declarations(handler)) > 1 else []
    return "_".join([area, *noun, handler.__name__, *several])


def _declarations(handler: object) -> tuple[Declaration, ...]:
    return getattr(handler, "__operations__", ())


def _query_parameters(parameters: list[Parameter]) -> list[Parameter]:
    found = [p for p in parameters if p.place is Place.QUERY]
    for p in parameters:
        if p.place is Place.FILTER:
            for field in msgspec.structs.fields(p.shape.type):
                shape = shape_of(field.type)
                found.append(Parameter(wire_name(field.name), field.name, Place.QUERY, shape, field.default))
    return found


def _headers(e_tag: str | None, next_query: Mapping[str, str] | None, call: Call) -> tuple[tuple[str, str], ...]:
    headers: tuple[tuple[str, str], ...] = ()
    if e_tag:
        headers += (("etag", f'"{e_tag}"'),)
    if next_query is not None:
        headers += (("link", f'<{_next_address(call, next_query)}>; rel="next"'),)
    return headers


def _next_query(result: Encoded[Any]) -> Mapping[str, str] | None:
    return result.next_query if result.next_skip is None else {"Skip": str(result.next_skip)}


def _next_address(call: Call, next_query: Mapping[str, str]) -> str:
    parts = [p for p in call.query.decode("ascii").split("&") if p and p.partition("=")[0] not in next_query]
    return f"{call.path}?{'&'.join([*parts, urlencode(next_query)])}"


def _if_match(call: Call) -> str | None:
    given = call.headers.get("if-match", "").strip().removeprefix("W/").strip('"')
    return None if given in ("", "*") else given
