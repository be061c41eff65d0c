"""What the platform and the process of an API say to each other: one JSON line each way, over pipes."""

from typing import Any

import msgspec

from penstock.kernel.errors import PenstockError


class ApiFailed(PenstockError):
    """The package's code failed, took too long, or its process ended."""

    code = "api-failed"
    title = "The API does not run"


class DescribedApi(msgspec.Struct, frozen=True, kw_only=True):
    """An API as its package describes it. schema: JSON Schema of its configuration, as text."""

    name: str
    version: str
    description: str
    schema: str


class PackageDescription(msgspec.Struct, frozen=True, kw_only=True):
    """What a package brings. version: of the package. problems: entry points that cannot be used, and why.

    digest: of the package's own files as installed. pure: they are the same on every kind of machine.
    """

    version: str
    digest: str
    pure: bool
    apis: list[DescribedApi]
    problems: list[str]


class Hosting(msgspec.Struct, frozen=True, kw_only=True):
    """What a process is to host. socket: where it listens. root_path: the route that its requests come by."""

    package: str
    api: str
    version: str
    configuration: dict[str, Any]
    socket: str
    root_path: str


class Started(msgspec.Struct, frozen=True, kw_only=True):
    """The application answers requests, or does not: reason says why.

    openapi_path, health_path: where it has its OpenAPI document, and where it says whether it is well.
    """

    reason: str | None = None
    openapi_path: str = ""
    health_path: str = ""
