"""Due times that no agent accounts for: the servers do."""

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta
from uuid import uuid4
from zoneinfo import ZoneInfo

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.areas.agents.roster import Roster
from penstock.areas.flows.gaps import Gaps
from penstock.areas.schedules.closed import ClosedLedgers
from penstock.areas.schedules.closing import LedgerClosing
from penstock.areas.schedules.gap_accounting import GapAccounting
from penstock.areas.schedules.ledger import Ledger
from penstock.areas.schedules.policy import SchedulePolicy
from penstock.kernel.clock import SystemClock
from penstock.kernel.cron import Cron
from penstock.kernel.due_span import span_of
from penstock.store.store import Store
from tests.application import Application
from tests.areas.agent_link import AgentLink, linked_agent
from tests.areas.ledger import EACH_SECOND, count, covered, fired, messages, runs, started, ticks
from tests.areas.scheduled import NEVER, apply, removal, schedule, stored_flow
from tests.areas.waiting import until


def without_waiting(application: Application) -> LedgerClosing:
    """The closing of ledgers, that does not wait for what agents may still have to tell."""
    get = application.platform.container.get
    return LedgerClosing(
        get(Store), SystemClock(), get(Roster), get(Ledger), get(ClosedLedgers), SchedulePolicy(close_after=timedelta())
    )


async def test_due_times_that_no_agent_matches_are_skipped_without_hole_or_double(
    application: Application, name: str
) -> None:
    accounting = application.platform.container.get(GapAccounting)
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    begun = (await stored_flow(application, name)).since
    for _ in range(3):
        await asyncio.sleep(0.7)
        await asyncio.gather(*(accounting.sweep() for _ in range(3)))
    async with linked_agent(application, f"late-{name}", {"Environment": name}) as link:
        item = (await link.work(f"schedule-{name}"))[f"schedule-{name}"]
        await accounting.sweep()
        await until(lambda: _gap_is_closed(application, name))
        told = await ticks(application, name)
    assert {(tick["AgentId"], tick["Outcome"], tick["Reason"]) for tick in told} == {
        (None, "skipped", "no agent matched")
    }
    assert covered(told) == list(Cron.parse(EACH_SECOND).between(begun, item.since, UTC))
    published = [(each["Due"], each["Count"]) for each in await messages(application, name)]
    assert published == [(tick["Due"], tick["Count"]) for tick in reversed(told)]


async def test_due_times_of_a_stopped_or_deleted_flow_without_agents_say_so(
    application: Application, name: str
) -> None:
    accounting = application.platform.container.get(GapAccounting)
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    begun = (await stored_flow(application, name)).since
    await asyncio.sleep(1.1)
    answer = await application.operator.post(f"/integrations/flows/stop?integrationFlowName=schedule-{name}")
    assert answer.status_code == 202, answer.text
    stopped = (await stored_flow(application, name)).since
    await asyncio.sleep(1.1)
    answer = await application.operator.delete(f"/integrations/flows/schedule-{name}")
    assert answer.status_code == 202, answer.text
    await asyncio.sleep(1.1)
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    again = (await stored_flow(application, name)).since
    await asyncio.sleep(1)
    await accounting.sweep()
    told = [tick for tick in await ticks(application, name) if datetime.fromisoformat(tick["Due"]) <= again]
    assert covered(told, until=again) == list(Cron.parse(EACH_SECOND).between(begun, again, UTC))
    reasons = [tick["Reason"] for tick in reversed(told)]
    assert list(dict.fromkeys(reasons)) == ["no agent matched", "stopped", "the flow was deleted"]
    first_stopped = next(tick for tick in reversed(told) if tick["Reason"] == "stopped")
    assert datetime.fromisoformat(first_stopped["Due"]) > stopped


async def test_a_changed_cron_holds_from_the_change_on(application: Application, name: str) -> None:
    accounting = application.platform.container.get(GapAccounting)
    requirements = {"Environment": name}
    await apply(application, schedule(name, EACH_SECOND, requirements=requirements))
    begun = (await stored_flow(application, name)).since
    await asyncio.sleep(1.5)
    await apply(application, schedule(name, "0/2 * * * * ?", requirements=requirements))
    changed = (await stored_flow(application, name)).since
    await asyncio.sleep(2.5)
    await apply(application, schedule(name, NEVER, requirements=requirements))
    ended = (await stored_flow(application, name)).since
    due = {
        "1": Cron.parse(EACH_SECOND).count_between(begun, changed, UTC),
        "2": Cron.parse("0/2 * * * * ?").count_between(changed, ended, UTC),
    }

    async def told() -> bool:
        """Whoever sweeps at the same time may tell a part of it."""
        await accounting.sweep()
        counts: Counter[str] = Counter()
        for tick in await ticks(application, name):
            counts[tick["Version"]] += tick["Count"]
        return counts == due

    await until(told)
    versions = [tick["Version"] for tick in reversed(await ticks(application, name))]
    assert list(dict.fromkeys(versions)) == ["1", "2"]


async def test_a_removed_schedule_is_accounted_for_up_to_its_removal(application: Application, name: str) -> None:
    accounting = application.platform.container.get(GapAccounting)
    document = schedule(name, EACH_SECOND, requirements={"Environment": name})
    await apply(application, document)
    await asyncio.sleep(1.2)
    await apply(application, removal(name))
    removed = datetime.now(UTC)
    await accounting.sweep()
    await asyncio.sleep(1.2)
    await accounting.sweep()
    await apply(application, schedule(name, NEVER))
    told = await ticks(application, name)
    assert told
    assert covered(told)[-1] <= removed


@settings(deadline=None)
@given(
    st.sampled_from([EACH_SECOND, "0 0/7 * * * ?", "5 0 3 * * ?", "0 30 2 ? * SUN", NEVER]),
    st.datetimes(datetime(2026, 3, 1), datetime(2026, 4, 2), timezones=st.just(UTC)),
    st.timedeltas(timedelta(), timedelta(hours=6)),
    st.sampled_from(["UTC", "Europe/Berlin", "Australia/Lord_Howe"]),
)
def test_a_span_is_the_first_the_last_and_the_number_of_due_times(
    cron: str, after: datetime, length: timedelta, zone: str
) -> None:
    parsed, until, place = Cron.parse(cron), after + length, ZoneInfo(zone)
    due = list(parsed.between(after, until, place))
    span = span_of(parsed, after, until, place)
    assert (span and (span.first, span.last, span.count)) == ((due[0], due[-1], len(due)) if due else None)


async def test_what_a_deprecated_agent_left_open_was_missed_up_to_its_deprecation(
    application: Application, link: AgentLink, name: str
) -> None:
    closing = without_waiting(application)
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    item = (await link.work(f"schedule-{name}"))[f"schedule-{name}"]
    due = list(Cron.parse(EACH_SECOND).between(item.since, item.since + timedelta(seconds=1), UTC))
    await link.report_schedules(ticks=[fired(name, each) for each in due])
    await until(lambda: count(lambda: ticks(application, name), len(due)))
    await asyncio.sleep(2.5)
    await application.admin.post(f"/agents/{link.id}/deprecate")
    deprecated = (await application.reader.get(f"/agents/{link.id}")).json()["LastUpdateDate"]
    until_then = datetime.fromisoformat(deprecated)
    await asyncio.gather(*(closing.close_all() for _ in range(3)))
    mine = [tick for tick in await ticks(application, name) if tick["AgentId"] == str(link.id)]
    missed = [tick for tick in mine if tick["Outcome"] == "missed"]
    assert [tick["Reason"] for tick in missed] == ["agent away"]
    assert covered(mine) == list(Cron.parse(EACH_SECOND).between(item.since, until_then, UTC))
    # What the agent still sends when it comes back is accounted for already.
    await link.report_schedules(ticks=[fired(name, until_then.replace(microsecond=0) - timedelta(seconds=1))])
    run = uuid4()
    await link.report_schedules(started=[started(name, run)])
    await until(lambda: count(lambda: runs(application, name), 1))
    assert [tick for tick in await ticks(application, name) if tick["AgentId"] == str(link.id)] == mine


async def test_after_a_deprecation_the_due_times_are_nobodys(
    application: Application, link: AgentLink, name: str
) -> None:
    await apply(application, schedule(name, EACH_SECOND, requirements={"Environment": name}))
    await application.admin.post(f"/agents/{link.id}/deprecate")
    deprecated = datetime.fromisoformat((await application.reader.get(f"/agents/{link.id}")).json()["LastUpdateDate"])
    await until(lambda: _is_unmatched(application, name))
    await asyncio.sleep(2)
    await application.platform.container.get(GapAccounting).sweep()
    told = [tick for tick in await ticks(application, name) if tick["AgentId"] is None]
    due = covered(told)
    assert due == list(Cron.parse(EACH_SECOND).between(deprecated, due[-1], UTC))


async def _is_unmatched(application: Application, name: str) -> bool:
    return (await stored_flow(application, name)).unmatched_since is not None


async def _gap_is_closed(application: Application, name: str) -> bool:
    await application.platform.container.get(GapAccounting).sweep()
    return all(gap.schedule != name for gap in await application.platform.container.get(Gaps).gaps())
