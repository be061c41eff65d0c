"""Operations on the keys of subscriptions."""

from penstock.areas.apim.keys.model import KeyRenewal
from penstock.areas.apim.keys.service import KeyService
from penstock.areas.apim.model import ApiSubscription
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body

_KEY = "/apim/subscriptions/{name}/key"


class KeyOperations:
    """Keys are shown to Admins who ask for them, and to nobody else."""

    def __init__(self, keys: KeyService) -> None:
        self._keys = keys

    @operation("GET", _KEY, Role.ADMIN, beyond=True)
    async def reveal(self, name: str, actor: Actor) -> str:
        """Read the key of a subscription.

        Each use is recorded in the entity event store as `api_subscriptions.key-revealed`.
        """
        return await self._keys.reveal(name, actor)

    @operation("POST", _KEY, Role.ADMIN, beyond=True)
    async def renew(self, name: str, renewal: Body[KeyRenewal], actor: Actor) -> ApiSubscription:
        """Renew the key of a subscription; the answer has the new one.

        The key before holds on for the Overlap. A third one stops at once.
        """
        return await self._keys.renew(name, renewal, actor)

    @operation("DELETE", f"{_KEY}/previous", Role.ADMIN, beyond=True)
    async def end_overlap(self, name: str, actor: Actor) -> File:
        """End the overlap of a renewal: the key before the newest one stops within a second."""
        await self._keys.end_overlap(name, actor)
        return File()

    @operation("DELETE", _KEY, Role.ADMIN, beyond=True)
    async def revoke(self, name: str, actor: Actor) -> File:
        """Revoke the keys of a subscription: they stop within a second. Renew it to make a new one."""
        await self._keys.revoke(name, actor)
        return File()
