"""The APIs that the component can host: those of the packages added since it started."""

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from penstock.apihost.message import ApiFailed, DescribedApi, PackageDescription
from penstock.apihost.packages import ApiPackages
from penstock.kernel.errors import Invalid, NotFound
from penstock.packages.environment import Package
from penstock.packages.index import PackageIndex
from penstock.packages.uv import InstallFailed

_FIELDS = ("packageName", "version")


@dataclass(frozen=True)
class CatalogApi:
    """An API, and the package that brings it, with where that is installed."""

    api: DescribedApi
    package: Package
    digest: str
    packages: ApiPackages


class ApiCatalog:
    """folder: of the environments. index: for packages that are added without a feed."""

    def __init__(self, folder: Path, index: PackageIndex) -> None:
        self._folder = folder
        self._index = index
        self._apis: dict[tuple[str, str], CatalogApi] = {}

    @property
    def apis(self) -> Sequence[CatalogApi]:
        """By name and version."""
        return [self._apis[key] for key in sorted(self._apis)]

    async def add(self, name: str | None, version: str | None, feed: str | None) -> Sequence[CatalogApi]:
        """Installs a package and adds its APIs, in place of those of the same name and version. Raises Invalid."""
        package = Package.checked(name, version, _FIELDS)
        index = self._index_of(feed)
        # Two feeds may have different packages of one name.
        source = hashlib.sha256(" ".join(index.options).encode()).hexdigest()[:12]
        packages = ApiPackages(self._folder / source, index, os.environ)
        try:
            description = await packages.describe(package)
        except (InstallFailed, ApiFailed) as error:
            raise Invalid.one("packageName", error.detail) from None
        if not description.apis:
            told = "".join(f"; {problem}" for problem in description.problems)
            raise Invalid.one("packageName", f"{package} has no APIs{told}")
        return [self._put(api, package, description, packages) for api in description.apis]

    def find(self, name: str | None, version: str | None) -> CatalogApi:
        """The newest added without a version. Raises Invalid without a name, NotFound."""
        if not name:
            raise Invalid.one("Api.Name", "is required")
        for known in reversed(self._apis.values()):
            same_version = not version or _trimmed(known.api.version) == _trimmed(version)
            if known.api.name.casefold() == name.casefold() and same_version:
                return known
        raise NotFound.of("API", f"{name} {version or ''}".strip())

    def _put(
        self, api: DescribedApi, package: Package, description: PackageDescription, packages: ApiPackages
    ) -> CatalogApi:
        key = api.name.casefold(), api.version
        found = CatalogApi(api, Package(package.name, description.version), description.digest, packages)
        self._apis.pop(key, None)  # the newest comes last
        self._apis[key] = found
        return found

    def _index_of(self, feed: str | None) -> PackageIndex:
        """Raises Invalid."""
        if not feed:
            return self._index
        address = urlsplit(feed)
        if address.scheme in ("http", "https") and address.hostname:
            return PackageIndex(feed, "", os.environ)
        if address.scheme == "file" and not address.netloc:
            return PackageIndex("none", unquote(address.path), os.environ)
        raise Invalid.one("feedUrl", "must be the address of a package index (https://...) or of a folder (file://...)")


def _trimmed(version: str) -> list[str]:
    parts = version.split(".")
    while len(parts) > 1 and parts[-1] == "0":
        parts.pop()
    return parts
