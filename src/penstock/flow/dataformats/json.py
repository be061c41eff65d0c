"""`json`: texts in JSON."""

import json
from collections.abc import Mapping
from typing import Annotated, NoReturn

from msgspec import Meta

from penstock.flow.dataformat import DataFormat, DataFormatFailed
from penstock.flow.values import text_of


class JsonFailed(DataFormatFailed):
    """The body is not JSON, or cannot be written as JSON."""

    code = "json-failed"
    title = "The body is not JSON"
    java = (
        "com.fasterxml.jackson.core.JsonParseException",
        "com.fasterxml.jackson.databind.exc.MismatchedInputException",
        "com.fasterxml.jackson.core.JsonProcessingException",
        "java.io.IOException",
    )


class Json(DataFormat, frozen=True, kw_only=True):
    """Maps, lists, texts, numbers, true, false and null, in UTF-8."""

    element = "json"

    library: Annotated[str, Meta(description="Taken as it is: this engine has one library.")] = ""
    pretty_print: Annotated[bool, Meta(description="Writes one entry of a map a line.")] = False
    unmarshal_type: Annotated[str, Meta(description="Taken as it is: maps and lists are made.")] = ""

    def write(self, body: object) -> object:
        try:
            if self.pretty_print:
                return _pretty(body, "").encode()
            return _compact(body).encode()
        except (ValueError, RecursionError) as error:
            raise JsonFailed(f"the body cannot be written as JSON: {error}") from None

    def read(self, body: object) -> object:
        try:
            return json.loads(
                body if isinstance(body, bytes | bytearray) else text_of(body), parse_constant=_refuse_constant
            )
        except (ValueError, RecursionError) as error:
            raise JsonFailed(f"the body is not JSON: {error}") from None


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"'{name}' is no number")


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=_plain)


def _plain(value: object) -> object:
    return dict(value) if isinstance(value, Mapping) else text_of(value)


def _pretty(value: object, indent: str) -> str:
    """As Jackson writes it: maps one entry a line, lists in one."""
    inner = f"{indent}  "
    if isinstance(value, Mapping) and value:
        lines = [f"{inner}{_compact(str(key))} : {_pretty(entry, inner)}" for key, entry in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    if isinstance(value, list | tuple) and value:
        return "[ " + ", ".join(_pretty(entry, indent) for entry in value) + " ]"
    return _compact(value) if value not in ({}, []) else "{ }" if isinstance(value, Mapping) else "[ ]"
