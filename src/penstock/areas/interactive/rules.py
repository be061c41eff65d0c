"""How code that users run is kept apart, for the policy report."""

from collections.abc import Sequence

from penstock.engine.client import EngineClient
from penstock.kernel.errors import PenstockError
from penstock.resource.ports.rules import Rule

_TOPIC = "Scripts and notebooks"


class EngineRules:
    """Asks the engines that run; what holds depends on their machines."""

    def __init__(self, engine: EngineClient) -> None:
        self._engine = engine

    async def rules(self) -> Sequence[Rule]:
        """See resource.ports.rules.CodeRules."""
        try:
            workers = await self._engine.workers()
        except PenstockError:
            workers = []
        hosts = {about.host: about.statements for about in workers}
        if not hosts:
            return [Rule(_TOPIC, "no engine runs now; it starts with the first run, and then tells here what holds")]
        return [Rule(f"{_TOPIC} on {host}", statement) for host in sorted(hosts) for statement in hosts[host]]
