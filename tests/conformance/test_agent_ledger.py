"""Each due time is told once, wherever the agent is killed."""

import asyncio
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.protocol.report import IntegrationFlowStatusEnum, TickOutcome
from tests.conformance.agent_world import World

FLOWS = ("a", "b")
CRONS = ("* * * * * *", "*/2 * * * * *", "3/5 * * * * *", "0 * * * * *")


async def start(world: World) -> None:
    await world.start()
    await world.unless_killed(world.resume())


async def test_a_running_flow_tells_of_each_tick_before_it_fires(tmp_path: Path) -> None:
    world = World(tmp_path / "agent.db")
    await start(world)
    world.wish("a", "* * * * * *", started=True)
    await world.sync()
    await world.live(5)
    await world.end()

    assert world.told() == world.due()
    assert world.told_fired() == world.fired
    assert len(world.fired) == 5


async def test_what_passed_while_the_agent_was_away_is_one_range(tmp_path: Path) -> None:
    world = World(tmp_path / "agent.db")
    await start(world)
    world.wish("a", "* * * * * *", started=True)
    await world.sync()
    await world.live(2)
    await world.end()
    await world.sleep(3600)
    await start(world)
    assert [report.outcome for report in world.reports()] == [TickOutcome.FIRED] * 2, "told once the servers are heard"
    await world.live(2)
    await world.sync()
    await world.end()

    [missed] = [report for report in world.reports() if report.outcome is TickOutcome.MISSED]
    assert (missed.count, missed.reason) == (3600, "agent away")
    assert world.told() == world.due()


async def test_runs_of_the_agent_that_never_heard_the_servers_leave_one_range(tmp_path: Path) -> None:
    world = World(tmp_path / "agent.db")
    await start(world)
    world.wish("a", "0 * * * * *", started=True)
    await world.sync()
    await world.end()
    for _ in range(3):
        await world.sleep(600)
        await start(world)
        await world.end()
    await start(world)
    await world.sync()
    await world.end()

    [missed] = world.reports()
    assert (missed.count, missed.reason) == (30, "agent away")


async def test_a_stopped_flow_is_skipped_in_ranges(tmp_path: Path) -> None:
    world = World(tmp_path / "agent.db")
    await start(world)
    world.wish("a", "* * * * * *", started=False)
    await world.sync()
    await world.live(3)
    await world.tell_passed()
    await world.live(4)
    world.wish("a", "* * * * * *", started=True)
    await world.sync()
    await world.live(2)
    await world.end()

    told = [(report.outcome, report.count, report.reason) for report in world.reports()]
    skipped = TickOutcome.SKIPPED
    fired = (TickOutcome.FIRED, 1, None)
    assert told == [(skipped, 3, "stopped"), (skipped, 4, "stopped"), fired, fired]
    assert world.told() == world.due()


async def test_a_flow_stopped_while_the_agent_was_away_was_missed_until_then_and_skipped_after(tmp_path: Path) -> None:
    world = World(tmp_path / "agent.db")
    await start(world)
    world.wish("a", "* * * * * *", started=True)
    await world.sync()
    await world.end()
    await world.sleep(10)
    world.wish("a", "*/2 * * * * *", started=False)
    await world.sleep(10)
    await start(world)
    await world.sync()
    await world.tell_passed()
    await world.end()

    told = [(report.outcome, report.count, report.reason) for report in world.reports()]
    assert told == [(TickOutcome.MISSED, 10, "agent away"), (TickOutcome.SKIPPED, 5, "stopped")]
    assert world.told() == world.due()


async def test_a_flow_removed_while_the_agent_was_away_was_missed_until_then(tmp_path: Path) -> None:
    world = World(tmp_path / "agent.db")
    await start(world)
    world.wish("a", "* * * * * *", started=True)
    await world.sync()
    await world.end()
    await world.sleep(7)
    world.unwish("a")
    await world.sleep(10)
    await start(world)
    await world.sync()
    await world.end()

    assert [(report.outcome, report.count) for report in world.reports()] == [(TickOutcome.MISSED, 7)]


async def test_a_flow_that_cannot_be_read_hurts_no_other_and_is_heard_of(tmp_path: Path) -> None:
    world = World(tmp_path / "agent.db")
    await start(world)
    world.wish("a", "* * * * * *", started=True)
    world.wish("b", "no cron", started=True)
    await world.sync()
    await world.live(2)
    assert world.life is not None
    problem = world.life.keeper.flows["b"].problem
    await world.end()

    assert problem is not None
    assert "cron" in problem
    assert len(world.fired) == 2


@st.composite
def stories(draw: st.DrawFn) -> list[tuple[Any, ...]]:
    """What happens: time, wishes, kills in the middle of things, times without an agent."""
    flow, cron = st.sampled_from(FLOWS), st.sampled_from(CRONS)
    wish = st.tuples(st.just("wish"), flow, cron, st.booleans())
    deeds = st.one_of(
        st.tuples(st.just("live"), st.integers(1, 7)),
        wish,
        st.tuples(st.just("unwish"), flow),
        st.tuples(st.just("tell")),
        st.tuples(st.just("kill"), st.integers(0, 6)),
        st.tuples(st.just("restart"), st.integers(0, 90), st.one_of(st.none(), wish), st.integers(0, 3)),
    )
    return [("wish", "a", draw(cron), True), *draw(st.lists(deeds, min_size=4, max_size=14))]


class Story:
    """Plays a story. The agent is told of a wish at once, unless it is away."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def play(self, deeds: list[tuple[Any, ...]]) -> None:
        await start(self.world)
        for deed, *details in deeds:
            await getattr(self, deed)(*details)
            if self.world.life is None:
                await self.restart(5, None, 0)
        if self.world.life is not None:
            self.world.life.database.dies_after = None
        await self.restart(0, None, 0)
        await self.live(2)
        await self.world.tell_passed()
        await self.world.end()

    async def live(self, seconds: int) -> None:
        await self.world.unless_killed(self.world.live(seconds))

    async def wish(self, flow: str, cron: str, started: bool) -> None:
        self.world.wish(flow, cron, started=started)
        await self.world.unless_killed(self.world.sync())

    async def unwish(self, flow: str) -> None:
        wanted = self.world.wanted(flow)
        if wanted is not None and wanted.item is not None:
            self.world.unwish(flow)
            await self.world.unless_killed(self.world.sync())
            await self.live(1)  # a flow that comes back at the same instant would be a change, not a new flow

    async def tell(self) -> None:
        await self.world.unless_killed(self.world.tell_passed())

    async def kill(self, writes: int) -> None:
        assert self.world.life is not None
        self.world.life.database.dies_after = writes

    async def restart(self, away: int, wish: tuple[Any, ...] | None, alone: int) -> None:
        """Away for a time, in which the servers may come to want something else; then up, first without the servers."""
        world = self.world
        if world.life is not None:
            await world.unless_killed(world.end()) if world.life.database.dies_after is None else await self.die()
        await world.sleep(away)
        if wish is not None:
            _, flow, cron, started = wish
            if (wanted := world.wanted(flow)) is not None and wanted.item is not None:
                world.wish(flow, cron, started=started)
                await world.sleep(away)
                alone = 0  # what it runs meanwhile would be the version before
        await start(world)
        if wish is None:
            await self.live(alone)
        await world.unless_killed(world.sync())

    async def die(self) -> None:
        assert self.world.life is not None
        self.world.life.database.dead.set()
        await self.world.unless_killed(self._never())

    async def _never(self) -> None:
        await asyncio.Event().wait()


@given(story=stories())
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
async def test_no_due_time_is_left_out_or_told_twice_wherever_the_agent_is_killed(story: list[tuple[Any, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        world = World(Path(folder) / "agent.db")
        await Story(world).play(story)

        assert world.told() == world.due()
        assert not Counter(world.fired) - Counter(world.told_fired()), "what fired was written down before"


async def test_a_flow_that_keeps_crashing_is_given_up_and_each_due_time_meanwhile_is_missed(tmp_path: Path) -> None:
    world = World(tmp_path / "agent.db")
    await start(world)
    world.wish("a", "* * * * * *", started=True)
    await world.sync()
    for crash in range(1, 6):
        await world.live(2)
        await world.crash("a", "the connection is lost")
        held = world.held("a")
        assert f"crashed ({crash} of 5)" in (held.problem or "") or crash == 5
        await world.live(3)
        await world.restart("a")
    held = world.held("a")
    assert held.status is IntegrationFlowStatusEnum.ERROR
    assert "the connection is lost" in (held.problem or "")
    world.wish("a", "* * * * * *", started=True)
    await world.sync()
    assert world.held("a").is_running
    await world.live(2)
    await world.end()

    assert world.told() == world.due()
    reasons = {report.reason for report in world.reports() if report.outcome is TickOutcome.MISSED}
    assert all("the connection is lost" in (reason or "") for reason in reasons)
    assert len(reasons) == 5
