"""Schemas of OpenAPI 3.0 as 3.1 writes them, which is as JSON Schema does."""

from penstock.areas.apim.catalog.parts import Object, Part

_BOUNDS = (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum"))


def upgraded(part: Part, given: Object) -> Object:
    """The part, its schemas in the newer form; an Edit."""
    if part is not Part.SCHEMA:
        return dict(given)
    if "$ref" in given:
        return {"$ref": given["$ref"]}  # what stands beside it has no meaning in 3.0, and has one in 3.1
    schema = {name: value for name, value in given.items() if name != "nullable"}
    for exclusive, bound in _BOUNDS:
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
    return _with_null(schema) if given.get("nullable") is True else schema


def _with_null(schema: Object) -> Object:
    if isinstance(schema.get("enum"), list) and None not in schema["enum"]:
        schema["enum"] = [*schema["enum"], None]
    if isinstance(schema.get("type"), str):
        return {**schema, "type": [schema["type"], "null"]}
    return {"anyOf": [schema, {"type": "null"}]} if schema.keys() - {"description", "title"} else schema
