"""Operations on variables."""

from penstock.areas.variables.model import VariableDto
from penstock.areas.variables.service import VariableService
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation


class VariableHandlers:
    """Variables are made and changed by configuration documents of kind Variable."""

    def __init__(self, service: VariableService) -> None:
        self._service = service

    @operation("GET", "/variables", Role.READER)
    async def list_variables(self) -> Encoded[list[VariableDto]]:
        """List the variables, newest first. The Value of a secret is `********`."""
        return await self._service.all()

    @operation("GET", "/variables/{name}", Role.READER)
    async def get_variable(self, name: str) -> Encoded[VariableDto]:
        """Read a variable; its name is compared without case. The Value of a secret is `********`."""
        return await self._service.read(name)

    @operation("GET", "/variables/{name}/reveal", Role.ADMIN)
    async def reveal_variable(self, name: str, actor: Actor) -> str:
        """Read the value of a variable, a secret one's too.

        Each use is recorded in the entity event store as `variables.revealed`.
        """
        return await self._service.reveal(name, actor)
