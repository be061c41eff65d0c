"""The APIs of the packages that are ready, for whoever hosts them."""

from collections.abc import Sequence

from penstock.apihost.message import DescribedApi
from penstock.areas.apipackages.stored import PACKAGES, StoredPackage
from penstock.resource.mirror import Mirror
from penstock.resource.ports.apis import KnownApi
from penstock.store.store import Store


class KnownApis:
    """Reads of what is stored now. Of two packages with the same API and version, the one registered last counts."""

    def __init__(self, store: Store) -> None:
        self._mirror = Mirror(store, PACKAGES, lambda package: package)

    async def packages(self) -> Sequence[StoredPackage]:
        """Newest first."""
        return sorted((await self._mirror.current()).values(), key=lambda package: package.key, reverse=True)

    async def apis(self) -> Sequence[tuple[StoredPackage, DescribedApi]]:
        """Of packages that are ready, the newest package first; each name and version once."""
        found = {
            (api.name.casefold(), api.version): (package, api)
            for package in reversed(await self.packages())
            if package.is_ready
            for api in package.apis
        }
        return sorted(found.values(), key=lambda each: (each[0].key, each[1].name), reverse=True)

    async def find(self, name: str, version: str | None) -> KnownApi | None:
        """Compared without case; without a version the one of the package registered last."""
        for package, api in await self.apis():
            if api.name.casefold() == name.casefold() and version in (None, "", api.version):
                return KnownApi(
                    name=api.name,
                    version=api.version,
                    schema=api.schema,
                    package=package.package,
                    package_version=package.installed.version or "",
                    digest=package.digest if package.pure else None,
                )
        return None
