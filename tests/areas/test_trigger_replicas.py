"""Triggers on several replicas: one runs each, and goes on at another when it stops or is killed."""

from contextlib import AsyncExitStack
from pathlib import Path

from tests.areas.busy_server import busy_server
from tests.areas.cluster import Cluster, cluster
from tests.areas.events import make_channel, routed
from tests.areas.triggers import make_trigger, remove_trigger, stands, times
from tests.foreign_nats import PASSWORD, USER, foreign_nats

__all__ = ["cluster"]


async def test_of_several_replicas_one_runs_a_trigger(cluster: Cluster) -> None:
    async with cluster.replica("1") as first, cluster.replica("2") as second, busy_server() as busy:
        channel = await make_channel(first)
        slow = await make_trigger(second, "http-poll", url=f"http://127.0.0.1:{busy.port}/")
        timer = await make_trigger(first, "timer", channel)
        events = await routed(first, channel, 3)
        await remove_trigger(second, timer)
        await remove_trigger(first, slow)
    assert busy.most_at_once == 1
    found = times(events)
    assert len(set(found)) == len(found)
    assert found == sorted(found)


async def test_a_listening_trigger_goes_on_at_another_replica(cluster: Cluster, tmp_path: Path) -> None:
    async with foreign_nats(tmp_path / "nats") as nats, AsyncExitStack() as ending:
        await nats.client.jetstream().add_stream(name="orders", subjects=["orders.>"])
        server = {"servers": [nats.url], "user": USER, "password": PASSWORD}
        second = await ending.enter_async_context(cluster.replica("2"))
        channel = await make_channel(second)
        id = await make_trigger(second, "nats", channel, subject="orders.*", stream="orders", **server)
        await stands(second, id, "Started")
        await nats.client.jetstream().publish("orders.new", b'{"n": 1}')
        await routed(second, channel, 1)
        async with cluster.replica("1") as first:
            await ending.aclose()
            await nats.client.jetstream().publish("orders.new", b'{"n": 2}')
            events = await routed(first, channel, 2)
            await remove_trigger(first, id)
    assert [event["data"] for event in events] == [{"n": 1}, {"n": 2}]
    assert {event["subject"] for event in events} == {"orders.new"}


async def test_a_trigger_of_a_replica_that_was_killed_goes_on_at_another(cluster: Cluster, tmp_path: Path) -> None:
    async with foreign_nats(tmp_path / "nats") as nats, cluster.process() as (process, first):
        await nats.client.jetstream().add_stream(name="parcels", subjects=["parcels.>"])
        server = {"servers": [nats.url], "user": USER, "password": PASSWORD}
        channel = await make_channel(first)
        id = await make_trigger(first, "nats", channel, subject="parcels.*", stream="parcels", **server)
        await stands(first, id, "Started")
        process.kill()
        await process.wait()
        async with cluster.replica("3") as second:
            await nats.client.jetstream().publish("parcels.new", b'{"n": 1}')
            [event] = await routed(second, channel, 1)
            await remove_trigger(second, id)
    assert event["data"] == {"n": 1}
