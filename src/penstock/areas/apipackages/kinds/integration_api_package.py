"""The configuration kind IntegrationApiPackage."""

from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.apipackages.service import ApiPackageService
from penstock.areas.apipackages.stored import StoredPackage
from penstock.kernel.actor import Actor
from penstock.resource.kind import ConfigurationKind, Metadata, Plan, Spec

_FIELDS = ("metadata.name", "spec.version")


class IntegrationApiPackageSpec(Spec):
    """A Python package whose APIs endpoints can host; metadata.name is its name."""

    version: Annotated[str | None, msgspec.Meta(description="The version; the newest at the time when omitted.")] = None


class IntegrationApiPackageKind(ConfigurationKind[IntegrationApiPackageSpec]):
    """A package of APIs, installed from the package index. Several versions live side by side: another version is
    registered beside those that are there. Removal removes every version."""

    kind = "IntegrationApiPackage"
    spec = IntegrationApiPackageSpec

    def __init__(self, packages: ApiPackageService) -> None:
        self._packages = packages

    async def plan(self, metadata: Metadata, spec: IntegrationApiPackageSpec, actor: Actor) -> Plan:
        stored, writes = self._packages.plan_register(metadata.name, spec.version, actor, fields=_FIELDS)
        for present in await self._packages.of_name(metadata.name):
            if spec.version in (None, present.package_version, present.installed_version):
                return Plan("keep", before=_shown(present), after=_shown(present))
        return Plan(
            "create", after=_shown(stored), writes=writes, finish=[partial(self._packages.schedule, stored.key)]
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        present = await self._packages.of_name(metadata.name)
        if not present:
            return Plan("keep")
        writes = [
            write
            for package in present
            for write in await self._packages.plan_remove(package, actor, field="metadata.name")
        ]
        finish = [partial(self._packages.announce_removed, package) for package in present]
        return Plan("remove", before=_shown(present[0]), writes=writes, finish=finish)


def _shown(package: StoredPackage) -> IntegrationApiPackageSpec:
    return IntegrationApiPackageSpec(version=package.installed.version)
