"""An API in its package: the factory that an entry point names, and what it says of itself by its attributes."""

import re
from collections.abc import Callable, Mapping
from importlib.metadata import Distribution, EntryPoint
from inspect import cleandoc
from typing import Any

import msgspec

from penstock.apihost.message import DescribedApi

ENTRY_POINTS = "penstock.apis"
OPENAPI_PATH = "/openapi.json"
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}", re.ASCII)
_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,63}", re.ASCII)
_ANY_CONFIGURATION: Mapping[str, Any] = {"type": "object"}

Factory = Callable[[dict[str, Any]], Any]
"""Takes the configuration, answers an ASGI application."""


class Definition:
    """One API of an installed package. Its attributes are all optional, see docs/how-to/write-an-api-package.md."""

    def __init__(self, point: EntryPoint, distribution: Distribution) -> None:
        """Raises whatever the package's code raises, and TypeError for what cannot be used."""
        self.name = point.name
        self.factory: Factory = point.load()
        if not _NAME.fullmatch(self.name):
            raise TypeError("its name may have letters, digits, '.', '_' and '-' only")
        if not callable(self.factory):
            raise TypeError("is nothing that can be called with a configuration")
        self.version = self._text("api_version", distribution.version)
        if not _VERSION.fullmatch(self.version):
            raise TypeError(f"its api_version {self.version!r} is no version")
        self.openapi_path = self._path("openapi_path", OPENAPI_PATH)
        self.health_path = self._path("health_path", "")
        self.schema = self._schema()

    @property
    def described(self) -> DescribedApi:
        first = cleandoc(self.factory.__doc__ or "").split("\n\n")[0]
        return DescribedApi(
            name=self.name,
            version=self.version,
            description=self._text("description", " ".join(first.split())),
            schema=self.schema,
        )

    def _schema(self) -> str:
        schema = getattr(self.factory, "configuration_schema", _ANY_CONFIGURATION)
        if not isinstance(schema, Mapping):
            raise TypeError("its configuration_schema is no object")
        return msgspec.json.encode(dict(schema)).decode()

    def _text(self, attribute: str, otherwise: str) -> str:
        value = getattr(self.factory, attribute, otherwise)
        if not isinstance(value, str):
            raise TypeError(f"its {attribute} is no text")
        return value

    def _path(self, attribute: str, otherwise: str) -> str:
        path = self._text(attribute, otherwise)
        if path and (not path.startswith("/") or not path.isascii() or any(each.isspace() for each in path)):
            raise TypeError(f"its {attribute} is no path that begins with '/'")
        return path


def definitions(distribution: Distribution) -> tuple[list[Definition], list[str]]:
    """The APIs of a package, and what is wrong with those that cannot be used."""
    found: list[Definition] = []
    problems: list[str] = []
    for point in distribution.entry_points.select(group=ENTRY_POINTS):
        try:
            found.append(Definition(point, distribution))
        except Exception as error:  # noqa: BLE001 - the package's own code; its description tells
            problems.append(f"{point.name}: {type(error).__name__}: {error}")
    return found, problems
