"""Operations on what gateways are told to serve."""

from penstock.areas.apim.table.current import CurrentTable
from penstock.areas.apim.table.model import PublishingProblem
from penstock.kernel.actor import Role
from penstock.resource.operation import operation


class TableOperations:
    """What gateways are told follows from what is published, and from what there is to serve it."""

    def __init__(self, table: CurrentTable) -> None:
        self._table = table

    @operation("GET", "/apim/problems", Role.READER, beyond=True)
    async def problems(self) -> list[PublishingProblem]:
        """List what is published and cannot be served as it stands, with the reason.

        Callers of such a version get 503; the keys of such a subscription do not hold.
        """
        return [PublishingProblem(name=name, problem=problem) for name, problem in sorted(self._table.problems.items())]
