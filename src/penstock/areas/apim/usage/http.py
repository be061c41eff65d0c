"""Operations on the use of APIs and on gateways."""

from penstock.areas.apim.usage.model import ApiUsageDto, GatewayDto, UsageFilter
from penstock.areas.apim.usage.overview import UsageOverview
from penstock.areas.apim.usage.standings import GatewayStandings
from penstock.kernel.actor import Role
from penstock.resource.answer import Encoded
from penstock.resource.operation import operation
from penstock.resource.parameter import Filter


class UsageOperations:
    """Gateways report what they served every second; it is kept for 90 days."""

    def __init__(self, usage: UsageOverview, gateways: GatewayStandings) -> None:
        self._usage = usage
        self._gateways = gateways

    @operation("GET", "/apim/usage", Role.READER, beyond=True)
    async def api_usage(self, filter: Filter[UsageFilter]) -> Encoded[list[ApiUsageDto]]:
        """Sum the calls of published APIs by version and subscription, newest first.

        From and To are cut to whole hours, with Interval `day` to whole days, of UTC; unless given they are the last 24
        hours. Interval `hour` or `day` sums each of them; without it all of the time is one sum.
        """
        return await self._usage.of(filter)

    @operation("GET", "/apim/gateways", Role.READER, beyond=True)
    async def list_gateways(self) -> list[GatewayDto]:
        """List the gateways that were heard of in the last seven days, by name."""
        return await self._gateways.all()
