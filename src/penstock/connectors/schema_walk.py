"""Walking a configuration along its JSON Schema, which says what each text in it may hold."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Schema = Mapping[str, Any]
Visit = Callable[[str, str, "Text"], str]


class Text:
    """What the schema says about one text. secret: never shown; confidential: may be made with secret variables."""

    def __init__(self, schemas: Sequence[Schema], within_secret: bool = False) -> None:
        self.secret = within_secret or _is_secret(schemas)
        self.confidential = self.secret or any(schema.get("x-secret-variables") for schema in schemas)


def mapped(configuration: Any, schema: Schema, visit: Visit) -> Any:
    """The configuration with every text replaced by what `visit` answers for it, its path and what it is.

    Paths are like `signing.secrets[0]`.
    """
    return _Walk(schema, visit).value(configuration, [schema], "")


class _Walk:
    def __init__(self, root: Schema, visit: Visit) -> None:
        self._root = root
        self._visit = visit

    def value(self, value: Any, schemas: Sequence[Schema], path: str, within_secret: bool = False) -> Any:
        schemas = [found for schema in schemas for found in self._expanded(schema)]
        if isinstance(value, str):
            return self._visit(value, path, Text(schemas, within_secret))
        secret = within_secret or _is_secret(schemas)
        if isinstance(value, dict):
            return {
                name: self.value(item, _of_member(schemas, name), f"{path}.{name}" if path else name, secret)
                for name, item in value.items()
            }
        if isinstance(value, list):
            items = [schema["items"] for schema in schemas if isinstance(schema.get("items"), dict)]
            return [self.value(item, items, f"{path}[{index}]", secret) for index, item in enumerate(value)]
        return value

    def _expanded(self, schema: Schema, seen: frozenset[str] = frozenset()) -> Iterator[Schema]:
        """The schema, and what it refers to or offers as alternatives. Packages write schemas, too: nothing is sure."""
        yield schema
        reference = schema.get("$ref")
        if isinstance(reference, str) and reference not in seen:
            target = self._target(reference)
            if target is not None:
                yield from self._expanded(target, seen | {reference})
        for word in ("anyOf", "oneOf", "allOf"):
            for alternative in schema.get(word, ()):
                if isinstance(alternative, dict):
                    yield from self._expanded(alternative, seen)

    def _target(self, reference: str) -> Schema | None:
        """What a reference within the schema leads to."""
        value: Any = self._root
        for part in reference.removeprefix("#").strip("/").split("/"):
            value = value.get(part) if isinstance(value, dict) and reference.startswith("#/") else None
        return value if isinstance(value, dict) else None


def _is_secret(schemas: Sequence[Schema]) -> bool:
    return any(schema.get("format") == "password" or schema.get("writeOnly") is True for schema in schemas)


def _of_member(schemas: Sequence[Schema], name: str) -> list[Schema]:
    named: list[Schema] = [
        found for schema in schemas if isinstance(found := schema.get("properties", {}).get(name), dict)
    ]
    others: list[Schema] = [
        other for schema in schemas if isinstance(other := schema.get("additionalProperties"), dict)
    ]
    return named or others
