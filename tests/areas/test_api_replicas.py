"""Published APIs with several replicas, on PostgreSQL: one table, and of two that claim one thing one has it."""

import asyncio

import httpx

from penstock.areas.apim.table.current import CurrentTable
from tests.application import Application
from tests.areas.cluster import Cluster, cluster
from tests.areas.gateway_tables import watched_table
from tests.areas.published import new_api, new_subscription, new_version, post_subscription, post_version
from tests.areas.waiting import until

__all__ = ["cluster"]


def stamp(application: Application) -> str | None:
    return application.platform.container.get(CurrentTable).stamp


async def test_a_change_on_one_replica_is_in_the_table_of_each(cluster: Cluster, name: str) -> None:
    async with (
        cluster.replica("1") as first,
        cluster.replica("2") as second,
        watched_table(first, f"edge-{name}") as watch,
    ):
        await new_api(first, name)
        await new_version(second, name)
        key = (await new_subscription(first, name, name))["Key"]
        found = await watch.becomes(lambda table: (it := table.subscription(name)) and it.paths and it)
        assert ([each.key for each in found.keys], found.paths) == ([key], [f"/{name}/v1"])

        async def same() -> bool:
            return stamp(first) == stamp(second) == watch.stamp

        assert await until(same)
        await second.admin.delete(f"/apim/subscriptions/{name}/key")
        await watch.becomes(lambda table: table.subscription(name) is None)


async def test_of_those_that_claim_one_thing_at_once_one_has_it(cluster: Cluster, name: str) -> None:
    async with cluster.replica("1") as first, cluster.replica("2") as second:
        places = (first, second, first, second)
        prefixes = [
            on.operator.post("/apim/apis", json={"Name": f"{name}-{number}", "Prefix": name})
            for number, on in enumerate(places)
        ]
        made = only_one(await asyncio.gather(*prefixes))
        only_one(await asyncio.gather(*(post_version(on, made["Name"]) for on in places)))
        keys = [
            post_subscription(on, f"{name}-{number}", made["Name"], Key=f"the-only-key-of-{name}")
            for number, on in enumerate(places)
        ]
        only_one(await asyncio.gather(*keys))


def only_one(answers: list[httpx.Response]) -> dict[str, str]:
    """What the one that won made; the others were told of the conflict."""
    assert sorted(answer.status_code for answer in answers) == [201, 409, 409, 409]
    won: dict[str, str] = next(answer.json() for answer in answers if answer.status_code == 201)
    return won
