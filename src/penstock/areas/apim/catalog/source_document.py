"""The OpenAPI document of a version, as its upstream gives it, made ready to be put under the gateway's address."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import unquote, urlsplit

import msgspec

from penstock.areas.apim.catalog.parts import COMPONENTS, Malformed, Object, Part, Rewriting, as_object
from penstock.areas.apim.catalog.upgrade import upgraded

LARGEST = 1 << 20


class SourceDocument:
    """A document of OpenAPI 3.0 or 3.1; what it says is that of 3.1. Raises Malformed when it is made."""

    def __init__(self, document: Any) -> None:
        self._document = as_object(document, "it")
        version = self._document.get("openapi")
        if not isinstance(version, str) or not version.startswith(("3.0", "3.1")):
            raise Malformed("it must be an OpenAPI document, 3.0 or 3.1")
        self._is_old = version.startswith("3.0")
        as_object(self._document.get("paths", {}), "paths")
        as_object(self._document.get("components", {}), "components")

    @classmethod
    def read(cls, text: str | bytes) -> "SourceDocument":
        """Of JSON. Raises Malformed."""
        if len(text) > LARGEST:
            raise Malformed(f"it has more than {LARGEST} bytes")
        try:
            return cls(msgspec.json.decode(text))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise Malformed("it is no JSON") from None

    @property
    def title(self) -> str | None:
        return self._info("title")

    @property
    def description(self) -> str | None:
        return self._info("description")

    @cached_property
    def paths(self) -> Mapping[str, Object]:
        found = {name: item for name, item in self._document.get("paths", {}).items() if not name.startswith("x-")}
        for name in found:
            if name and not name.startswith("/"):
                raise Malformed(f"the path '{name}' must begin with a slash")
        return {name: self._new(Part.PATH, item, f"paths.{name}") for name, item in found.items()}

    @cached_property
    def components(self) -> Mapping[str, Mapping[str, Object]]:
        """By section and name; security schemes are left out, since the gateway asks for its own."""
        given = self._document.get("components", {})
        return {
            section: {
                name: self._new(part, value, f"components.{section}.{name}")
                for name, value in as_object(given[section], f"components.{section}").items()
            }
            for section, part in COMPONENTS.items()
            if section in given
        }

    def base_below(self, upstream_path: str) -> str:
        """What its server's path has beyond the upstream's: requests have it between version and path."""
        servers = self._document.get("servers")
        first = servers[0] if isinstance(servers, Sequence) and servers else {}
        url = first.get("url") if isinstance(first, dict) else None
        path = unquote(urlsplit(url).path).rstrip("/") if isinstance(url, str) and _is_url(url) else ""
        upstream = upstream_path.rstrip("/")
        return path.removeprefix(upstream) if path.startswith(f"{upstream}/") and "{" not in path else ""

    def _info(self, name: str) -> str | None:
        info = self._document.get("info")
        found = info.get(name) if isinstance(info, dict) else None
        return found if isinstance(found, str) else None

    def _new(self, part: Part, value: Any, place: str) -> Any:
        return Rewriting(upgraded).part(part, value, place) if self._is_old else value


def _is_url(text: str) -> bool:
    try:
        urlsplit(text)
    except ValueError:
        return False
    return True
