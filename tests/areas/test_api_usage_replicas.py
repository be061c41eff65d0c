"""The use of APIs with several replicas on PostgreSQL: whoever counts may die, each call counts once."""

import asyncio

from tests.application import Application
from tests.areas.cluster import Cluster, cluster
from tests.areas.gateway_link import calls, linked_gateway
from tests.areas.waiting import until

__all__ = ["cluster"]


async def counted(application: Application, name: str, wanted: int) -> int:
    async def enough() -> int:
        rows = (await application.admin.get("/apim/usage", params={"Api": name})).json()
        found = sum(row["Calls"] for row in rows)
        return found if found >= wanted else 0

    return await until(enough, 60)


async def test_a_replica_that_is_killed_while_it_counts_costs_nothing(cluster: Cluster, name: str) -> None:
    told = 0
    async with cluster.process() as (process, _), cluster.replica("1") as left:
        async with linked_gateway(left, f"edge-{name}") as gateway:
            for number in range(60):
                await gateway.tell(gateway.report(calls(name, f"s{number % 3}", number)))
                told += number
                if number == 30:
                    await counted(left, name, 1)
                    process.kill()
                await asyncio.sleep(0.02)
            repeated = gateway.report(calls(name, "s0", 1000), number=5)
            await gateway.tell(repeated)
            await gateway.tell(gateway.report(calls(name, "s0", 1), number=100))
        assert await counted(left, name, told + 1) == told + 1


async def test_two_replicas_count_each_report_once(cluster: Cluster, name: str) -> None:
    async with (
        cluster.replica("1") as first,
        cluster.replica("2") as second,
        linked_gateway(first, f"edge-{name}") as gateway,
    ):
        for _ in range(20):
            await gateway.tell(gateway.report(calls(name, "shop", 1)))
        assert await counted(second, name, 20) == 20
