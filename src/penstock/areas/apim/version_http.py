"""Operations on versions of APIs."""

from penstock.areas.apim.model import ApiVersion
from penstock.areas.apim.versions import VersionService
from penstock.kernel.actor import Actor, Role
from penstock.kernel.wire import encode
from penstock.resource.answer import Encoded, File
from penstock.resource.operation import operation
from penstock.resource.parameter import Body, IfMatch

_VERSION = "/apim/apiversions/{apiName}/{version}"


class VersionOperations:
    """Versions of APIs: where their requests go, who may call, how the gateway connects."""

    def __init__(self, versions: VersionService) -> None:
        self._versions = versions

    @operation("GET", "/apim/apis/versions", Role.READER)
    async def list_of_api(self, api_name: str) -> list[ApiVersion]:
        """List the versions of an API, newest first."""
        return await self._versions.of_api(api_name)

    @operation("GET", "/apim/apiversions", Role.READER)
    async def list(self) -> list[ApiVersion]:
        """List the versions of all APIs, newest first."""
        return await self._versions.all()

    @operation("GET", _VERSION, Role.READER, beyond=True)
    async def get(self, api_name: str, version: str) -> Encoded[ApiVersion]:
        """Get a version of an API; names are compared without case."""
        found, e_tag = await self._versions.get(api_name, version)
        return Encoded(encode(found), e_tag)

    @operation("POST", "/apim/apiversions", Role.OPERATOR, status=201, beyond=True)
    async def create(self, version: Body[ApiVersion], actor: Actor) -> ApiVersion:
        """Make a version of an API. Gateways serve it while IsActive is true.

        Parameters by Type: `address` {Url}, `endpoint` {Endpoint}, `trigger` {Trigger}; and for all of them Timeout,
        Retries, HealthPath, Headers, Deprecated, Sunset. `{{var:NAME}}` in Url, HealthPath and values of Headers is
        replaced, by Variables first. Headers that look like secrets must be variables.
        """
        return await self._versions.create(version, actor)

    @operation("PUT", _VERSION, Role.OPERATOR, beyond=True)
    async def save(
        self, api_name: str, version: str, wanted: Body[ApiVersion], actor: Actor, if_match: IfMatch
    ) -> ApiVersion:
        """Change a version of an API. Its API and its version stay."""
        return await self._versions.save(api_name, version, wanted, actor, if_match)

    @operation("DELETE", _VERSION, Role.OPERATOR, beyond=True)
    async def remove(self, api_name: str, version: str, actor: Actor, if_match: IfMatch) -> File:
        """Remove a version that no subscription lists by itself."""
        await self._versions.remove(api_name, version, actor, if_match)
        return File()
