"""Parameters of operations: how each argument of a handler is filled from a request."""

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Annotated, Any, TypeVar, get_args, get_origin
from urllib.parse import parse_qs

import msgspec

from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid, UnsupportedMedia
from penstock.kernel.shape import Shape, shape_of
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import document_name, parse_time
from penstock.kernel.wording import in_words
from penstock.resource.call import Call

T = TypeVar("T")


class Place(Enum):
    """Where an argument comes from."""

    PATH = "path"
    QUERY = "query"
    FILTER = "filter"
    BODY = "body"
    UNDECODED = "undecoded"
    ACTOR = "actor"
    CALL = "call"
    IF_MATCH = "if-match"


BODIES = (Place.BODY, Place.UNDECODED)

Body = Annotated[T, Place.BODY]
"""The request's body as a T."""
UndecodedText = Annotated[bytes, Place.UNDECODED, str]
"""The request's body as it came, in any media type; documented as a string."""
Filter = Annotated[T, Place.FILTER]
"""Optional query parameters as the fields of a Struct, PascalCase on the wire."""
IfMatch = Annotated[str | None, Place.IF_MATCH]
"""The ETag of the If-Match header, without quotes."""


@dataclass(frozen=True)
class Parameter:
    """One argument. name: on the wire; argument: in Python."""

    name: str
    argument: str
    place: Place
    shape: Shape
    default: Any = inspect.Parameter.empty

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty


def parameters_of(function: Any, path_names: set[str]) -> list[Parameter]:
    """The parameters that a handler's signature declares. Raises TypeError when a path parameter has no argument."""
    found = [
        _parameter(argument, path_names)
        for argument in inspect.signature(function, eval_str=True).parameters.values()
        if argument.name != "self"
    ]
    missing = path_names - {p.name for p in found if p.place is Place.PATH}
    if missing:
        raise TypeError(f"{function.__qualname__} lacks an argument for {sorted(missing)}")
    return found


def _parameter(argument: inspect.Parameter, path_names: set[str]) -> Parameter:
    annotation, name = argument.annotation, document_name(argument.name)
    place = Place.PATH if name in path_names else Place.QUERY
    if annotation is Actor:
        place = Place.ACTOR
    elif annotation is Call:
        place = Place.CALL
    elif get_origin(annotation) is Annotated and isinstance(get_args(annotation)[1], Place):
        place = get_args(annotation)[1]
        annotation = get_args(annotation)[2 if place is Place.UNDECODED else 0]
    return Parameter(name, argument.name, place, shape_of(annotation), argument.default)


def parse_query(query: bytes, known: Mapping[str, Parameter], errors: list[FieldError]) -> dict[str, Any]:
    """The values of known query parameters by wire name; what is unknown or unreadable goes to `errors`."""
    values: dict[str, Any] = {}
    if not query and not known:
        return values
    try:
        given = parse_qs(query.decode("ascii"), keep_blank_values=True, strict_parsing=bool(query), max_num_fields=200)
    except ValueError:
        raise Invalid.one("", "the query string is not valid") from None
    errors += [FieldError(name, "is not a known query parameter") for name in given if name not in known]
    for name, parameter in known.items():
        texts = [text for text in given.get(name, ()) if text]
        if texts:
            values[name] = parse_text(name, texts, parameter.shape, errors)
        elif parameter.required:
            errors.append(FieldError(name, "is required"))
    return values


def parse_text(name: str, texts: list[str], shape: Shape, errors: list[FieldError]) -> Any:
    """Query or path text as the parameter's type. A repeated parameter is an array, or an error."""
    if len(texts) > 1 and not shape.is_array:
        errors.append(FieldError(name, "is given more than once"))
        return None
    try:
        if shape.is_array:
            items = [part for text in texts for part in text.split(",")]
            return msgspec.convert(items, shape.annotation, strict=False)
        if shape.type is datetime:
            return parse_time(texts[0])
        return msgspec.convert(texts[0], shape.annotation, strict=False)
    except (msgspec.ValidationError, ValueError) as error:
        errors.append(FieldError(name, in_words(str(error), shape)))
        return None


async def read_body(call: Call, parameter: Parameter, limit: int) -> Any:
    """The body for the parameter. Decoded, an absent one is an empty object, and a str may also come as plain text.

    Raises Invalid, TooLarge, UnsupportedMedia.
    """
    encoding = call.headers.get("content-encoding", "identity").strip().lower()
    if encoding != "identity":
        raise UnsupportedMedia(f"the body must come as it is, not encoded as {encoding}")
    if parameter.place is Place.UNDECODED:
        return await call.read(limit)
    shape = parameter.shape
    media = call.headers.get("content-type", "application/json").split(";")[0].strip().lower()
    body = await call.read(limit)
    if shape.type is str and media in ("text/plain", "application/yaml", "text/yaml", "application/x-yaml"):
        try:
            return body.decode()
        except UnicodeDecodeError:
            raise Invalid.one("", "the body is not valid UTF-8") from None
    if body and media != "application/json" and not media.endswith("+json"):
        raise UnsupportedMedia(f"the body must be application/json, not {media}")
    if not body.strip():
        if shape.is_optional:
            return None
        if not shape.is_struct:
            raise Invalid.one("", "a body is required")
        body = b"{}"
    return decode_json(body, shape.annotation)
