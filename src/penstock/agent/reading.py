"""Makes a definition of a flow's text, with the variables that decide when and how it runs."""

from datetime import tzinfo

import msgspec

from penstock.agent.due_times import DueTimes
from penstock.flow.definition import FlowDefinition
from penstock.flow.parser import parse_flow
from penstock.flow.problem import InvalidFlow
from penstock.flow.variables import Variables
from penstock.kernel.errors import PenstockError
from penstock.protocol.work import WorkItem

_USE = "an option that decides how a flow runs"


class Reading(msgspec.Struct, frozen=True):
    """definition, due_times: None when there is a problem. passing: the problem may be gone another time."""

    definition: FlowDefinition | None = None
    due_times: DueTimes | None = None
    problem: str | None = None
    passing: bool = False


class FlowReader:
    """zone: of wall-clock times."""

    def __init__(self, variables: Variables, zone: tzinfo) -> None:
        self._variables = variables
        self._zone = zone

    async def read(self, item: WorkItem) -> Reading:
        """Never raises for what the item holds."""
        try:
            definition = parse_flow(item.name, item.version, item.spec)
            if definition.needs:
                values = {name: (await self._variables.get_public(name, _USE)).value for name in definition.needs}
                definition = parse_flow(item.name, item.version, item.spec, values)
        except InvalidFlow as error:
            return Reading(problem=error.detail)
        except PenstockError as error:  # a variable that does not exist, is secret, or cannot be asked for now
            return Reading(problem=error.detail, passing=True)
        return Reading(definition, DueTimes.of(definition, self._zone))
