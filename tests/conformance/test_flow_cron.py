"""`cron` fires as `quartz` does."""

from tests.conformance.flow_sources import route
from tests.conformance.running_engine import eventually, running_engine


async def test_a_schedule_fires_and_says_which_it_was() -> None:
    async with running_engine() as running:
        log = "log: '${header.triggerGroup} ${header.triggerName}'"
        await running.start("often", route("cron:shop/often?schedule=*+*+*+*+*+*", log))
        await eventually(lambda: len(running.listener.ticked) >= 2)
        assert all(tick.due.microsecond == 0 for tick in running.listener.ticked)
        assert running.listener.messages[0] == "shop often"
