"""Settings of a program: a commented TOML text of defaults, and the environment over it.

The environment name of a field is the prefix and the field's name in capitals: `PENSTOCK_` and `data_folder`
make `PENSTOCK_DATA_FOLDER`.
"""

import difflib
import tomllib
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Annotated, Any, Literal, TypeVar, cast, get_args, get_origin

import msgspec

from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.shape import Shape, shape_of

S = TypeVar("S", bound=msgspec.Struct)

_BOOLEANS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}
_BOUNDS = (("ge", "at least"), ("gt", "more than"), ("le", "at most"), ("lt", "less than"))


def read_settings(
    struct: type[S],
    defaults: str,
    environment: Mapping[str, str],
    prefix: str,
    known_elsewhere: Collection[str] = (),
) -> S:
    """The settings as a Struct.

    Field types: str, int, float, bool, Literal of texts, lists of these (`a,b`), dict[str, str] (`a=1,b=2`), each
    perhaps optional (empty is None) or Annotated with bounds. A field that neither `defaults` nor the Struct gives
    a value must be set.
    known_elsewhere: names with the prefix that belong to other programs; one that ends with `_` stands for all
    names that begin so.

    Raises Invalid with every problem; each field is an environment name, and no message repeats a value, which may be
    a secret. Raises ValueError when `defaults` itself does not fit the Struct.
    """
    fields = {prefix + field.name.upper(): field for field in msgspec.structs.fields(struct)}
    values = _read_defaults(struct, defaults)
    errors = [
        FieldError(name, _unknown(name, fields, prefix))
        for name in sorted(environment)
        if name.startswith(prefix) and name not in fields and not _belongs(name, known_elsewhere)
    ]
    for name, field in fields.items():
        try:
            if name in environment:
                values[field.name] = _value(environment[name], field.type)
            elif field.required and field.name not in values:
                errors.append(FieldError(name, "must be set"))
        except ValueError as error:
            errors.append(FieldError(name, str(error)))
    if errors:
        raise Invalid(errors)
    return struct(**values)


def _read_defaults(struct: type[msgspec.Struct], defaults: str) -> dict[str, Any]:
    values = tomllib.loads(defaults)
    types = {field.name: field.type for field in msgspec.structs.fields(struct)}
    if unknown := values.keys() - types.keys():
        raise ValueError(f"defaults for no setting: {', '.join(sorted(unknown))}")
    try:
        return {name: msgspec.convert(value, types[name]) for name, value in values.items()}
    except msgspec.ValidationError as error:
        raise ValueError(f"a default does not fit its setting: {error}") from None


def _value(text: str, annotation: Any) -> Any:
    """The text as the type. Raises ValueError with what is allowed."""
    shape = shape_of(annotation)
    text = text.strip()
    if shape.is_optional and not text:
        return None
    value = _reader(shape)(text)
    try:
        return msgspec.convert(value, annotation)
    except msgspec.ValidationError:
        raise ValueError(_allowed(annotation)) from None


def _reader(shape: Shape) -> Callable[[str], Any]:
    readers: dict[Any, Callable[[str], Any]] = {
        str: str,
        Literal: str,
        int: _int,
        float: _float,
        bool: _bool,
        dict: _map,
    }
    read = readers[shape.type]
    return (lambda text: [read(part) for part in _list(text)]) if shape.is_array else read


def _int(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError("must be a whole number") from None


def _float(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = float("nan")
    if number - number != 0:  # infinite, or no number
        raise ValueError("must be a number")
    return number


def _bool(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise ValueError("must be true or false")
    return _BOOLEANS[text.lower()]


def _list(text: str) -> list[str]:
    return [part for part in (part.strip() for part in text.split(",")) if part]


def _map(text: str) -> dict[str, str]:
    pairs: dict[str, str] = {}
    for part in _list(text):
        name, separator, value = part.partition("=")
        name = name.strip()
        if not separator or not name:
            raise ValueError("must be pairs like 'name=value,name=value'")
        if name in pairs:
            raise ValueError(f"names '{name}' twice")
        pairs[name] = value.strip()
    return pairs


def _allowed(annotation: Any) -> str:
    """What the bounds of the annotation allow, in words."""
    if choices := _choices(annotation):
        return f"must be one of {', '.join(choices)}"
    meta = _meta(annotation)
    bounds = [f"{words} {limit}" for name, words in _BOUNDS if (limit := getattr(meta, name, None)) is not None]
    if bounds:
        return f"must be {' and '.join(bounds)}"
    if description := getattr(meta, "description", None):
        return f"must be {description}"
    return "must not be empty" if getattr(meta, "min_length", None) == 1 else "is not allowed here"


def _choices(annotation: Any) -> list[str]:
    return next(
        (
            [str(choice) for choice in get_args(candidate)]
            for candidate in (annotation, *get_args(annotation))
            if get_origin(candidate) is Literal
        ),
        [],
    )


def _meta(annotation: Any) -> msgspec.Meta | None:
    for candidate in (annotation, *get_args(annotation)):
        if get_origin(candidate) is Annotated:
            return cast(msgspec.Meta, get_args(candidate)[1])
    return None


def _belongs(name: str, known_elsewhere: Iterable[str]) -> bool:
    return any(name == known or (known.endswith("_") and name.startswith(known)) for known in known_elsewhere)


def _unknown(name: str, fields: Collection[str], prefix: str) -> str:
    rests = {field.removeprefix(prefix): field for field in fields}
    near = difflib.get_close_matches(name.removeprefix(prefix), rests, n=1)
    return f"is not a setting; did you mean {rests[near[0]]}?" if near else "is not a setting"
