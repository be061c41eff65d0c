"""Parts of a version's document, put where the gateway serves them and called so that all versions fit together."""

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from penstock.areas.apim.catalog.names import OperationNames
from penstock.areas.apim.catalog.parts import METHODS, Malformed, Object, Part

_COMPONENTS = "#/components/"
_PATHS = "#/paths/"


class Placing:
    """An Edit. names: of components, new by section and old. path: what comes before each path.

    operations: their new names. besides: what every operation gets.
    """

    def __init__(
        self,
        names: Mapping[tuple[str, str], str],
        path: Callable[[str], str],
        operations: OperationNames,
        besides: Object,
        tag: Callable[[str], str],
    ) -> None:
        self.names = names
        self._path = path
        self._operations = operations
        self._besides = besides
        self._tag = tag

    def __call__(self, part: Part, given: Object) -> Object:
        found = dict(given)
        if isinstance(found.get("$ref"), str):
            found["$ref"] = self._reference(found["$ref"])
        match part:
            case Part.PATH:
                found.pop("servers", None)
            case Part.OPERATION:
                self._place_operation(found)
            case Part.LINK:
                self._place_link(found)
            case Part.SCHEMA:
                self._place_schema(given, found)
        return found

    def _place_operation(self, found: Object) -> None:
        # Whoever is called back is called by the upstream, past the gateway.
        for name in ("servers", "security", "callbacks"):
            found.pop(name, None)
        if "operationId" in found:
            found["operationId"] = self._operations.next(str(found["operationId"]))
        tags = found.get("tags")
        own = [self._tag(tag) for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []
        found |= {"tags": own or [self._tag("")], **self._besides}

    def _place_link(self, found: Object) -> None:
        found.pop("server", None)
        if "operationId" in found:
            found["operationId"] = self._operations.first(str(found["operationId"]))
        if isinstance(found.get("operationRef"), str):
            found["operationRef"] = self._reference(found["operationRef"])

    def _place_schema(self, given: Object, found: Object) -> None:
        discriminator = given.get("discriminator")
        if not isinstance(discriminator, dict):
            return
        mapping = discriminator.get("mapping")
        said = mapping.items() if isinstance(mapping, dict) else ()
        # Without a mapping values are the schemas' names, which are others from now on.
        meant = {**_named_by(given), **{str(value): target for value, target in said if isinstance(target, str)}}
        found["discriminator"] = {
            **discriminator,
            "mapping": {value: self._target(target) for value, target in meant.items()},
        }

    def _target(self, target: str) -> str:
        known = ("schemas", target) in self.names
        return self._reference(f"{_COMPONENTS}schemas/{target}" if known else target)

    def _reference(self, reference: str) -> str:
        if reference.startswith(_COMPONENTS):
            section, _, rest = reference.removeprefix(_COMPONENTS).partition("/")
            name, slash, inner = rest.partition("/")
            new = self.names.get((section, _plain(name)))
            if new is None:
                raise Malformed(f"it refers to {reference}, which it does not have")
            return f"{_COMPONENTS}{section}/{new}{slash}{inner}"
        if reference.startswith(_PATHS):
            path, slash, inner = reference.removeprefix(_PATHS).partition("/")
            return f"{_PATHS}{_escaped(self._path(_plain(path)))}{slash}{inner}"
        if not urlsplit(reference).scheme:
            raise Malformed(f"it refers to {reference}, which is outside of it")
        return reference


def operation_ids(paths: Mapping[str, Any]) -> list[str]:
    """Those in the document's order."""
    return [
        str(item[method]["operationId"])
        for item in paths.values()
        if isinstance(item, dict)
        for method in METHODS
        if isinstance(item.get(method), dict) and "operationId" in item[method]
    ]


def _named_by(schema: Object) -> dict[str, str]:
    prefix = f"{_COMPONENTS}schemas/"
    options = [each for name in ("oneOf", "anyOf") for each in schema.get(name) or () if isinstance(each, dict)]
    references = [each["$ref"] for each in options if isinstance(each.get("$ref"), str)]
    return {_plain(each.removeprefix(prefix)): each for each in references if each.startswith(prefix)}


def _plain(segment: str) -> str:
    return unquote(segment).replace("~1", "/").replace("~0", "~")


def _escaped(path: str) -> str:
    return quote(path.replace("~", "~0").replace("/", "~1"), safe="~{}")
