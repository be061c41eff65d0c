"""JSON Schemas named as the contract names types."""

from typing import Any

_FORMATS = {
    "uuid": "guid",
    "date-time": "dt",
    "time-span": "dur",
    "int32": "int32",
    "int64": "int64",
    "uint64": "uint64",
    "uri": "uri",
}
_KINDS = {"string": "str", "boolean": "bool", "number": "double", "integer": "integer", "object": "object"}


def type_name(schema: dict[str, Any]) -> str:
    """`guid`, `[Agent]`, `int32`, ...; null beside another type is passed over."""
    members = [member for member in schema.get("anyOf", ()) if member != {"type": "null"}]
    if len(members) == 1:
        return type_name(members[0])
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if schema.get("type") == "array":
        return f"[{type_name(schema.get('items', {}))}]"
    if schema.get("contentEncoding") == "base64":
        return "byte"
    return _FORMATS.get(schema.get("format", "")) or _KINDS.get(schema.get("type", ""), "any")
