"""Operations on APIs."""

from penstock.areas.apim.apis import ApiService
from penstock.areas.apim.model import Api, ApiDetailsDto
from penstock.kernel.actor import Actor, Role
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch

_API = "/apim/apis/{apiName}"


class ApiOperations:
    """APIs that gateways publish below their prefixes."""

    def __init__(self, apis: ApiService) -> None:
        self._apis = apis

    @operation("GET", "/apim/apis", Role.READER)
    async def list(self) -> list[ApiDetailsDto]:
        """List the APIs with their versions and subscriptions, newest first. Keys are `********`."""
        return await self._apis.all()

    @operation("GET", _API, Role.READER)
    async def get(self, api_name: str) -> Encoded[ApiDetailsDto]:
        """Get an API with its versions and subscriptions. Its name is compared without case."""
        api, e_tag = await self._apis.get(api_name)
        return Encoded(encode(api), e_tag)

    @operation("POST", "/apim/apis", Role.OPERATOR, status=201, beyond=True)
    async def create(self, api: Body[Api], actor: Actor) -> ApiDetailsDto:
        """Make an API. Its versions are served at `/{Prefix}/{Version}/`; the prefix is its name unless given."""
        return await self._apis.create(api, actor)

    @operation("PUT", _API, Role.OPERATOR, beyond=True)
    async def save(self, api_name: str, api: Body[Api], actor: Actor, if_match: IfMatch) -> ApiDetailsDto:
        """Change an API. Its name stays."""
        return await self._apis.save(api_name, api, actor, if_match)

    @operation("DELETE", _API, Role.OPERATOR, beyond=True)
    async def remove(self, api_name: str, actor: Actor, if_match: IfMatch) -> File:
        """Remove an API that has no versions and that no subscription lists."""
        await self._apis.remove(api_name, actor, if_match)
        return File()
