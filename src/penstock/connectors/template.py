"""JSON templates: `${...}` in their texts is replaced by what it selects of an event."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from penstock.connectors.json_path import JsonPath

Fill = Callable[[Any], Any]
"""Makes the value for an event, given in the JSON format."""

_PART = re.compile(r"\$\$\{|\$\{([^{}]*)\}")


def parsed(template: Any, path: str = "") -> Fill:
    """The template ready for use.

    `${data.order.id}` selects by names, `${$..price}` by any JSONPath. A text that is one `${...}` becomes what it
    selects, null when there is nothing; within a longer text that is written out. `$${` is a plain `${`.
    path: of the template, for errors. Raises ValueError naming the place.
    """
    if isinstance(template, str):
        return _text(template, path)
    if isinstance(template, dict):
        members = {name: parsed(value, f"{path}.{name}" if path else name) for name, value in template.items()}
        return lambda event: {name: fill(event) for name, fill in members.items()}
    if isinstance(template, list):
        items = [parsed(value, f"{path}[{index}]") for index, value in enumerate(template)]
        return lambda event: [fill(event) for fill in items]
    return lambda event: template


def _text(template: str, path: str) -> Fill:
    parts: list[str | JsonPath] = []
    end = 0
    for match in _PART.finditer(template):
        parts += [template[end : match.start()], _query(match[1], path) if match[1] is not None else "${"]
        end = match.end()
    if "${" in template[end:].replace("$${", ""):
        raise ValueError(f"{path or 'the template'}: a '${{' is not closed; a plain one is written '$${{'")
    parts = [part for part in [*parts, template[end:]] if part != ""]
    if len(parts) == 1 and isinstance(parts[0], JsonPath):
        return parts[0].value
    if all(isinstance(part, str) for part in parts):
        plain = "".join(map(str, parts))
        return lambda event: plain
    return lambda event: "".join(part if isinstance(part, str) else _written(part.value(event)) for part in parts)


def _query(text: str, path: str) -> JsonPath:
    text = text.strip()
    try:
        return JsonPath(text if text.startswith("$") else f"$.{text}")
    except ValueError as error:
        raise ValueError(f"{path or 'the template'}: '{text}' {error}") from None


def _written(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
