"""The operations of an OpenAPI document, found by method and path."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace")


class Operations:
    """Those of a document that are passed on; allowed: their operationIds, all when empty."""

    def __init__(self, document: Mapping[str, Any], allowed: list[str]) -> None:
        """Raises ValueError for a document without paths, and for an operationId that it does not have."""
        if not isinstance(document.get("paths"), Mapping):
            raise ValueError("the document has no paths: it is no OpenAPI document")
        found = list(_operations(document))
        missing = set(allowed) - {id for _, _, id in found}
        if missing:
            raise ValueError(f"the document has no operation {', '.join(sorted(missing))}")
        self._document = document
        self._kept = {(path, method) for path, method, id in found if not allowed or id in allowed}
        self._patterns = [
            (_pattern(path), {method for each, method in self._kept if each == path})
            for path in dict.fromkeys(path for path, _ in self._kept)
        ]

    def methods(self, path: str) -> set[str]:
        """The methods that a path takes, in lower case; none when it is not served."""
        return {method for pattern, methods in self._patterns if pattern.fullmatch(path) for method in methods}

    def document(self, server: str) -> dict[str, Any]:
        """The document with the operations that are passed on. server: the route that the API is hosted at."""
        paths = {
            path: {name: value for name, value in item.items() if name not in METHODS or (path, name) in self._kept}
            for path, item in self._document["paths"].items()
            if any(path == kept for kept, _ in self._kept)
        }
        return {**self._document, "servers": [{"url": server or "/"}], "paths": paths}


def _operations(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if isinstance(item, Mapping) and isinstance(item.get(method), Mapping):
                yield path, method, str(item[method].get("operationId") or f"{method} {path}")


def _pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{[^{}/]+\}", path)
    return re.compile("[^/]+".join(re.escape(part) for part in parts))
