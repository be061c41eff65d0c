"""The secrets inside a configuration: taken out before it is stored or answered, put back before it is used."""

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.connectors.kind import Kind
from penstock.connectors.reference import is_reference

MASK = "******"


def without_secrets(kind: type[Kind], configuration: Any) -> tuple[Any, dict[str, str]]:
    """The configuration with its secrets masked, and the secrets by their paths (`signing.secrets[0]`).

    A secret that is nothing but text around `{{var:NAME}}` stays: it gives nothing away.
    """
    secrets: dict[str, str] = {}
    public = _mapped(configuration, kind.schema(), kind.schema(), "", secrets)
    return public, secrets


def with_secrets(configuration: Any, secrets: Mapping[str, str]) -> Any:
    """The configuration with masked texts replaced by the secrets at their paths."""
    return _filled(configuration, "", secrets)


def _mapped(value: Any, schema: Mapping[str, Any], root: Mapping[str, Any], path: str, out: dict[str, str]) -> Any:
    options = list(_options(schema, root))
    if isinstance(value, str):
        secret = any(option.get("format") == "password" for option in options)
        if not secret or value == MASK or is_reference(value):
            return value
        out[path] = value
        return MASK
    if isinstance(value, dict):
        properties = [option.get("properties", {}) for option in options]
        return {
            name: _mapped(item, next((p[name] for p in properties if name in p), {}), root, _join(path, name), out)
            for name, item in value.items()
        }
    if isinstance(value, list):
        items: Mapping[str, Any] = next(
            (option["items"] for option in options if isinstance(option.get("items"), dict)), {}
        )
        return [_mapped(item, items, root, f"{path}[{index}]", out) for index, item in enumerate(value)]
    return value


def _options(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The schema and what it refers to or offers as alternatives."""
    yield schema
    if "$ref" in schema:
        yield from _options(root["$defs"][schema["$ref"].rpartition("/")[2]], root)
    for option in schema.get("anyOf", ()):
        yield from _options(option, root)


def _filled(value: Any, path: str, secrets: Mapping[str, str]) -> Any:
    if value == MASK:
        return secrets.get(path, value)
    if isinstance(value, dict):
        return {name: _filled(item, _join(path, name), secrets) for name, item in value.items()}
    if isinstance(value, list):
        return [_filled(item, f"{path}[{index}]", secrets) for index, item in enumerate(value)]
    return value


def _join(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
