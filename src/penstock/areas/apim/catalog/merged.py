"""One OpenAPI document of many versions, or of one."""

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from penstock.areas.apim.catalog.names import OperationNames, TakenNames, component_names
from penstock.areas.apim.catalog.parts import COMPONENTS, Object, Part, Rewriting
from penstock.areas.apim.catalog.placed import Placing, operation_ids
from penstock.areas.apim.catalog.published import PublishedVersion
from penstock.areas.apim.catalog.security import SecuritySchemes
from penstock.areas.apim.catalog.source_document import SourceDocument


class MergedDocument:
    """Versions are added one by one; one that is malformed leaves it as it was.

    servers: addresses of gateways. alone: it is of one version, whose names stay as they are.
    """

    def __init__(self, servers: Sequence[str], now: datetime, *, alone: bool = False) -> None:
        self._servers = servers
        self._now = now
        self._taken = TakenNames(as_written=alone)
        self._security = SecuritySchemes()
        self._tags: dict[str, Object] = {}
        self._paths: Object = {}
        self._components: dict[str, Object] = {}
        self._left_out: list[Object] = []

    def add(self, version: PublishedVersion, source: SourceDocument, upstream_path: str = "") -> None:
        """upstream_path: of the address that the version's requests go to. Raises Malformed."""
        before = f"{version.path}{source.base_below(upstream_path)}"
        placing = self._placing(version, source, before)
        paths = {
            f"{before}{path}": Rewriting(placing).part(Part.PATH, item, f"paths.{path}")
            for path, item in source.paths.items()
        }
        components = {
            section: {
                placing.names[section, name]: Rewriting(placing).part(COMPONENTS[section], value, f"{section}.{name}")
                for name, value in named.items()
            }
            for section, named in source.components.items()
        }
        self._paths |= paths
        for section, named in components.items():
            self._components.setdefault(section, {}).update(named)
        self._tags[_title(version)] = _tag(version, source)

    def leave_out(self, version: PublishedVersion, reason: str) -> None:
        """Says why a version is not in it."""
        self._left_out.append({"api": version.api, "version": version.version, "reason": reason})

    def document(self, title: str, description: str) -> Object:
        """OpenAPI 3.1. Its version follows from what it says."""
        content: Object = {
            **({"servers": [{"url": address} for address in self._servers]} if self._servers else {}),
            "tags": list(self._tags.values()),
            "paths": self._paths,
            "components": {
                **{section: named for section, named in sorted(self._components.items()) if named},
                **({"securitySchemes": self._security.found} if self._security.found else {}),
            },
            **({"x-left-out": self._left_out} if self._left_out else {}),
        }
        stamp = hashlib.sha256(msgspec.json.encode(content)).hexdigest()[:12]
        return {
            "openapi": "3.1.0",
            "info": {"title": title, "version": stamp, "description": description},
            **content,
        }

    def _placing(self, version: PublishedVersion, source: SourceDocument, before: str) -> Placing:
        owner = (version.api, version.version)
        besides: dict[str, Any] = {"security": self._security.required(version.access, version.issuers)}
        if version.is_deprecated(self._now):
            besides["deprecated"] = True
        title = _title(version)
        return Placing(
            component_names(source.components, self._taken, owner),
            path=lambda path: f"{before}{path}",
            operations=OperationNames(operation_ids(source.paths), self._taken, owner),
            besides=besides,
            tag=lambda tag: f"{title}: {tag}" if tag else title,
        )


def _title(version: PublishedVersion) -> str:
    return f"{version.api} {version.version}"


def _tag(version: PublishedVersion, source: SourceDocument) -> Object:
    said = [version.entity.description or source.title, source.description]
    if version.settings.deprecated is not None:
        said.append(f"Deprecated since {version.settings.deprecated.isoformat()}.")
    if version.settings.sunset is not None:
        said.append(f"It goes away at {version.settings.sunset.isoformat()}.")
    return {"name": _title(version), "description": "\n\n".join(each for each in said if each)}
