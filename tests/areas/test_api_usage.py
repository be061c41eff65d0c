"""How much published APIs are used: what gateways report is counted, each call once."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from penstock.areas.apim.usage.taking import UsageTaking
from penstock.bus.message import StoredMessage
from penstock.kernel.wire import encode
from penstock.protocol.gateway import GatewayCall
from penstock.protocol.subjects import CALLS, USAGE, gateway_report
from penstock.resource.ports.api_usage import ApiUsage
from tests.application import Application
from tests.areas.faults import kill_bus
from tests.areas.gateway_link import GatewayLink, calls, linked_gateway
from tests.areas.waiting import until


@pytest.fixture
async def gateway(application: Application, name: str) -> AsyncIterator[GatewayLink]:
    async with linked_gateway(application, f"gw-{name}") as linked:
        yield linked


async def usage(application: Application, **wanted: str) -> list[dict[str, Any]]:
    answer = await application.reader.get("/apim/usage", params=wanted)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()
    return found


async def counted(application: Application, api: str, number: int) -> list[dict[str, Any]]:
    """The use of an API once so many calls of it are counted."""

    async def found() -> list[dict[str, Any]]:
        rows = await usage(application, Api=api)
        return rows if sum(row["Calls"] for row in rows) >= number else []

    return await until(found)


async def settled(application: Application, gateway: GatewayLink, name: str) -> None:
    """Returns when all that the gateway told so far has been taken in."""
    await gateway.tell(gateway.report(calls(f"settled-{name}", None, 1)))
    await counted(application, f"settled-{name}", 1)


async def test_calls_are_counted_by_version_and_subscription(
    application: Application, gateway: GatewayLink, name: str
) -> None:
    await gateway.tell(
        gateway.report(calls(name, "shop", 7), calls(name, "shop", 2, status=503), calls(name, None, 1, 401))
    )
    await gateway.tell(gateway.report(calls(name, "shop", 1, status=429, ms=1000)))
    rows = {row["Subscription"]: row for row in await counted(application, name, 11)}
    shop = rows["shop"]
    assert (shop["Api"], shop["Version"], shop["Calls"], shop["Errors"], shop["Refused"]) == (name, "v1", 10, 2, 1)
    assert shop["Statuses"] == {"200": 7, "429": 1, "503": 2}
    assert (shop["ReceivedBytes"], shop["SentBytes"], shop["AverageMilliseconds"]) == (10, 20, 109.0)
    assert 5 < shop["P50Milliseconds"] <= 10 < 500 < shop["P99Milliseconds"] <= 1000
    assert (rows[None]["Calls"], rows[None]["Refused"]) == (1, 1)


async def test_a_report_that_comes_again_is_counted_once(
    application: Application, gateway: GatewayLink, name: str
) -> None:
    first, second = gateway.report(calls(name, "shop", 3)), gateway.report(calls(name, "shop", 4))
    for report in (first, first, second, first, second):
        await gateway.tell(report)
    await settled(application, gateway, name)
    assert [row["Calls"] for row in await usage(application, Api=name)] == [7]


async def test_a_reader_that_died_before_it_noted_where_it_was_counts_nothing_twice(
    application: Application, gateway: GatewayLink, name: str
) -> None:
    report = gateway.report(calls(name, "shop", 3))
    message = StoredMessage(
        subject=gateway_report(gateway.gateway, USAGE),
        data=encode(report),
        headers={},
        time=datetime.now(UTC),
        sequence=1,
    )
    taking = application.platform.container.get(UsageTaking)
    for _ in range(2):
        await taking.take([message])
    assert [row["Calls"] for row in await usage(application, Api=name)] == [3]


async def test_reports_of_two_sources_do_not_hide_each_other(
    application: Application, gateway: GatewayLink, name: str
) -> None:
    await gateway.tell(gateway.report(calls(name, "shop", 1), number=5))
    gateway.source = "another-disk"
    await gateway.tell(gateway.report(calls(name, "shop", 1), number=1))
    assert [row["Calls"] for row in await counted(application, name, 2)] == [2]


async def test_time_is_divided_into_hours_or_days(application: Application, gateway: GatewayLink, name: str) -> None:
    now = datetime.now(UTC).replace(minute=30)
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    yesterday = midnight - timedelta(hours=1)
    for at in (yesterday, yesterday, midnight, midnight + timedelta(minutes=59)):
        await gateway.tell(gateway.report(calls(name, "shop", 1), at=at))
    await settled(application, gateway, name)
    since = (midnight - timedelta(days=1)).isoformat()
    until_ = (midnight + timedelta(hours=2)).isoformat()
    period = {"Api": name, "From": since, "To": until_}
    by_hour = await usage(application, **period, Interval="hour")
    assert [(parsed(row["From"]), row["Calls"]) for row in by_hour] == [(midnight, 2), (yesterday, 2)]
    by_day = await usage(application, **period, Interval="day")
    assert [(parsed(row["From"]), parsed(row["To"]), row["Calls"]) for row in by_day] == [
        (midnight, midnight + timedelta(days=1), 2),
        (midnight - timedelta(days=1), midnight, 2),
    ]
    [total] = await usage(application, **period)
    assert (parsed(total["From"]), total["Calls"]) == (midnight - timedelta(days=1), 4)
    [today] = await usage(application, **(period | {"From": midnight.isoformat()}))
    assert today["Calls"] == 2


async def test_use_is_found_by_version_and_subscription_and_page_by_page(
    application: Application, gateway: GatewayLink, name: str
) -> None:
    await gateway.tell(gateway.report(*(calls(name, f"s{number}", 1) for number in range(5))))
    await counted(application, name, 5)
    [one] = await usage(application, Api=name.upper(), Version="V1", Subscription="S3")
    assert one["Subscription"] == "s3"
    assert await usage(application, Api=name, Version="v2") == []
    answer = await application.reader.get("/apim/usage", params={"Api": name, "Count": 2, "Skip": 2})
    assert [row["Subscription"] for row in answer.json()] == ["s2", "s3"]
    assert "Skip=4" in answer.headers["Link"]


async def test_what_cannot_be_counted_is_dropped_and_the_rest_is_counted(
    application: Application, gateway: GatewayLink, name: str
) -> None:
    good = calls(name, "shop", 1)
    await gateway.tell(gateway.report(calls("no name/at all", "shop", 1), good, calls(name, "shop", -5)))
    await gateway.tell(gateway.report(good, at=datetime(1999, 1, 1, tzinfo=UTC)))
    await gateway.tell(msgspec.structs.replace(gateway.report(good), id="no number"))
    await gateway.tell(gateway.report(msgspec.structs.replace(good, latency=[1])))
    await settled(application, gateway, name)
    assert [row["Calls"] for row in await usage(application, Api=name)] == [1]


async def test_reports_outlive_a_bus_that_is_killed(application: Application, gateway: GatewayLink, name: str) -> None:
    await gateway.tell(gateway.report(calls(name, "shop", 1)))
    await kill_bus(application)

    async def told() -> bool:
        return gateway.link.connected

    await until(told)
    await gateway.tell(gateway.report(calls(name, "shop", 1)))
    assert [row["Calls"] for row in await counted(application, name, 2)] == [2]


async def test_a_quota_counts_calls_that_were_let_in(application: Application, gateway: GatewayLink, name: str) -> None:
    now = datetime.now(UTC)
    long_ago = now - timedelta(hours=50)
    await gateway.tell(gateway.report(calls(name, name, 3), calls(name, name, 4, status=429), calls(name, None, 5)))
    await gateway.tell(gateway.report(calls(name, name, 10), at=long_ago))
    await settled(application, gateway, name)
    found = application.platform.container.get(ApiUsage)
    assert await found.calls({name.upper(): now}) == {name.upper(): 3}
    assert await found.calls({name: long_ago}) == {name: 13}
    assert await found.calls({name: now - timedelta(hours=40), f"not-{name}": now}) == {name: 3, f"not-{name}": 0}
    await gateway.tell(gateway.report(calls(name, name, 1)))
    await counted(application, name, 13)
    assert await found.calls({name: long_ago}) == {name: 14}


async def test_calls_are_in_the_metrics(application: Application, gateway: GatewayLink, name: str) -> None:
    async def shown() -> dict[str, float]:
        lines = (await application.reader.get("/metrics")).text.splitlines()
        return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in lines if name in line}

    await gateway.tell(gateway.report(calls(name, "shop", 3), calls(name, "shop", 1, status=500, ms=60)))
    found = await until(shown)
    of_calls = {key: value for key, value in found.items() if key.startswith("penstock_api_calls_total")}
    assert sorted(of_calls.values()) == [1, 3]
    assert sum(value for key, value in found.items() if key.startswith("penstock_api_call_seconds_count")) == 4
    assert [value for key, value in found.items() if 'le="0.05"' in key] == [3]
    assert [value for key, value in found.items() if 'le="+Inf"' in key] == [4]


async def test_single_calls_are_a_stream(application: Application, gateway: GatewayLink, name: str) -> None:
    call = GatewayCall(
        gateway=gateway.gateway, time=datetime.now(UTC), api=name, path="/x", method="GET", status=200, milliseconds=3
    )
    await gateway.link.tell(CALLS, call)

    async def told() -> list[dict[str, Any]]:
        messages = (await application.reader.get("/eventing/streams/gateway-calls/messages")).json()
        return [message for message in messages if gateway.gateway in message["Subject"]]

    assert await until(told)


async def test_who_may_read_and_what_is_asked_is_checked(application: Application) -> None:
    assert (await application.anonymous.get("/apim/usage")).status_code == 401
    refused = await application.reader.get("/apim/usage", params={"From": "2026-02-01", "To": "2026-01-01"})
    assert (refused.status_code, "From" in refused.text) == (400, True)
    for wrong in ({"Interval": "week"}, {"From": "yesterday"}, {"Count": "1001"}):
        assert (await application.reader.get("/apim/usage", params=wrong)).status_code == 400


def parsed(text: str) -> datetime:
    return datetime.fromisoformat(text)
