"""Making an event source from its item: the kind found, variables replaced."""

from penstock.agent.variables import VariableSource
from penstock.connectors.kind import Kind
from penstock.connectors.packaged.kinds import packaged_kind
from penstock.connectors.packaged.message import DescribedKind
from penstock.connectors.packaged.process import PackageProcesses
from penstock.connectors.reference import names_in
from penstock.connectors.registry import Family, configuration_object, registry
from penstock.connectors.resolution import Secrets, resolved
from penstock.connectors.source import SourceKind
from penstock.kernel.names import name_key
from penstock.packages.environment import Package
from penstock.protocol.event_source import SourceItem


class SourceBuilder:
    """Kinds of packages run in processes of their own."""

    def __init__(self, variables: VariableSource, processes: PackageProcesses) -> None:
        self._variables = variables
        self._processes = processes

    async def build(self, item: SourceItem, secrets: Secrets) -> SourceKind:
        """Raises Invalid, Unavailable when variables cannot be asked for."""
        configuration = configuration_object(item.configuration)
        own = {name_key(name): str(value) for name, value in (item.variables or {}).items()}
        names = names_in(configuration)
        values = {name: (own[name_key(name)], False) for name in names if name_key(name) in own}
        # One that does not exist is told when it is put in.
        values |= await self._variables.values(names - values.keys())
        use = resolved(self._kind(item), configuration, values, secrets)
        assert isinstance(use, SourceKind)
        return use

    def _kind(self, item: SourceItem) -> type[Kind]:
        if item.package is None:
            return registry().kind(Family.SOURCE, item.type, item.version)
        described = DescribedKind(
            family=Family.SOURCE,
            identifier=item.type,
            version=item.version,
            description="",
            schema=item.schema or "{}",
            requires_polling=item.requires_polling,
            stateful=item.stateful,
            shared=item.shared,
        )
        package = Package(item.package.name, item.package.version)
        return packaged_kind(package, described, self._processes.of, allow_private=self._processes.allow_private)
