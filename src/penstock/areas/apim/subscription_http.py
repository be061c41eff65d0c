"""Operations on subscriptions."""

from penstock.areas.apim.model import ApiSubscription, ApiSubscriptionDto
from penstock.areas.apim.subscriptions import SubscriptionService
from penstock.kernel.actor import Actor, Role
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch

_SUBSCRIPTION = "/apim/subscriptions/{name}"


class SubscriptionOperations:
    """Who may call which APIs, and how much."""

    def __init__(self, subscriptions: SubscriptionService) -> None:
        self._subscriptions = subscriptions

    @operation("GET", "/apim/subscriptions", Role.READER)
    async def list(self) -> list[ApiSubscriptionDto]:
        """List the subscriptions, newest first. Keys are `********`."""
        return await self._subscriptions.all()

    @operation("GET", _SUBSCRIPTION, Role.READER, beyond=True)
    async def get(self, name: str) -> Encoded[ApiSubscription]:
        """Get a subscription; its name is compared without case. Its key is `********`."""
        found, e_tag = await self._subscriptions.get(name)
        return Encoded(encode(found), e_tag)

    @operation("POST", "/apim/subscriptions", Role.ADMIN, status=201, beyond=True)
    async def create(self, subscription: Body[ApiSubscription], actor: Actor) -> ApiSubscription:
        """Make a subscription; the answer has its key.

        Apis lists APIs, for all their versions, and `api/version`. Parameters by Type: `apikey`, which is meant when
        there is none; `basic` {UserName}, whose password is the key; `oidc` {Issuer, Audience, JwksUri, Claim, Value};
        and for all of them RateLimit {Calls, Period} and Quota {Calls, Period}. `{{var:NAME}}` in values of
        AdditionalHeaders, and in the parameters of oidc, is replaced, by Variables first.
        """
        return await self._subscriptions.create(subscription, actor)

    @operation("PUT", _SUBSCRIPTION, Role.ADMIN, beyond=True)
    async def save(
        self, name: str, subscription: Body[ApiSubscription], actor: Actor, if_match: IfMatch
    ) -> ApiSubscription:
        """Change a subscription. Its key stays unless another one is given, which holds at once and alone."""
        return await self._subscriptions.save(name, subscription, actor, if_match)

    @operation("DELETE", _SUBSCRIPTION, Role.ADMIN, beyond=True)
    async def remove(self, name: str, actor: Actor, if_match: IfMatch) -> File:
        """Remove a subscription; its callers are refused within a second."""
        await self._subscriptions.remove(name, actor, if_match)
        return File()
