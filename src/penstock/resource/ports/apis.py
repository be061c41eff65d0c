"""APIs that can be hosted, and who hosts them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class KnownApi:
    """An API that can be hosted. schema: JSON Schema of its configuration, as text. digest: of the package's files."""

    name: str
    version: str
    schema: str
    package: str
    package_version: str
    digest: str | None


class ApiCatalog(Protocol):
    """Provided by `apipackages`; its changes are told as those of the collection `integration_api_packages`."""

    async def find(self, name: str, version: str | None) -> KnownApi | None:
        """The API of a package that is ready; the one registered last without a version."""
        ...


class ApiUses(Protocol):
    """Provided by `endpoints`."""

    async def users(self, apis: Collection[tuple[str, str]]) -> Sequence[str]:
        """The names of the endpoints that host one of these APIs, given as name and version."""
        ...
