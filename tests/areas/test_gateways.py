"""Gateways as the servers know them."""

from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.kernel.errors import Forbidden
from penstock.protocol.gateway import GatewayStanding
from penstock.protocol.subjects import STANDING
from tests.application import Application
from tests.areas.gateway_link import linked_gateway
from tests.areas.waiting import until

AT = datetime(2026, 1, 31, 8, 30, tzinfo=UTC)


async def gateways(application: Application, name: str) -> list[dict[str, Any]]:
    answer = await application.reader.get("/apim/gateways")
    assert answer.status_code == 200, answer.text
    return [gateway for gateway in answer.json() if name in gateway["Name"]]


async def test_a_gateway_is_shown_as_it_said_last(application: Application, name: str) -> None:
    async with linked_gateway(application, f"edge-{name}") as gateway:
        for stamp, problem in (("1", None), ("2", "no memory")):
            standing = GatewayStanding(
                gateway="another", address="http://10.0.0.1:8500", stamp=stamp, applied_at=AT, problem=problem
            )
            await gateway.link.report(STANDING, standing)
    [shown] = await until(lambda: gateways(application, name))
    assert (shown["Name"], shown["Address"], shown["Stamp"]) == (f"edge-{name}", "http://10.0.0.1:8500", "2")
    assert (shown["Problem"], shown["Online"], shown["UpToDate"]) == ("no memory", True, False)
    assert datetime.fromisoformat(shown["AppliedAt"]) == AT


async def test_gateways_are_for_readers(application: Application) -> None:
    assert (await application.anonymous.get("/apim/gateways")).status_code == 401


async def test_a_gateway_speaks_for_itself_only(application: Application, name: str) -> None:
    async with linked_gateway(application, f"edge-{name}") as gateway:
        gateway.link._gateway = "another"
        with pytest.raises(Forbidden):
            await gateway.link.report(STANDING, GatewayStanding(gateway="another", address=""))
