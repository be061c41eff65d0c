"""`penstock get` of API packages, APIs and endpoints, before a real agent that hosts them."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.application import ADMIN_PASSWORD, Application
from tests.areas.hosting import READY, becomes, hosting_agent, make_endpoint, register, running_shop
from tests.program import Ended, Terminal


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("listings")


@pytest.fixture(scope="module")
async def shop(place: Path) -> AsyncIterator[Application]:
    async with running_shop(place) as running, hosting_agent(running, place / "one", "one"):
        await register(running, "acme-fickle", "1.0.0")
        yield running


@pytest.fixture(scope="module")
def terminal(shop: Application, place: Path) -> Terminal:
    return Terminal(place, shop.address, PENSTOCK_USERNAME="admin", PENSTOCK_PASSWORD=ADMIN_PASSWORD)


def cells(ended: Ended) -> list[list[str]]:
    """The words of each line below the titles."""
    assert ended.code == 0, ended.err
    return [line.split() for line in ended.out.splitlines()[1:]]


async def test_packages_show_how_they_stand_and_what_they_bring(terminal: Terminal) -> None:
    [package] = cells(await terminal.run("get", "apipackage", "acme-fickle"))
    assert package[:4] == ["acme-fickle", "1.0.0", "Ready", "fickle"]
    [api] = cells(await terminal.run("get", "packageapis", "fickle"))
    assert api[:4] == ["fickle", "1.0", "acme-fickle", "1.0.0"]
    whole = json.loads((await terminal.run("get", "packageapi", "fickle", "-o", "json")).out)
    assert (whole["Identifier"], "ConfigurationSchema" in whole) == ("api:fickle@1.0", True)


async def test_an_installation_says_what_is_wrong(shop: Application, terminal: Terminal) -> None:
    [ready] = cells(await terminal.run("get", "installation", "acme-fickle"))
    assert ready[0] == "Ready"
    assert "broken:" in ready
    await register(shop, "no-such-package")
    failed = await terminal.run("get", "installation", "no-such-package", "-o", "json")
    assert "no-such-package" in json.loads(failed.out)["Message"]


async def test_endpoints_show_how_they_stand_on_agents(shop: Application, terminal: Terminal) -> None:
    made = await make_endpoint(shop, "lamps", "fickle", {"colour": "red"}, "one")
    standing = await becomes(shop, made, READY)
    assert cells(await terminal.run("get", "endpoints")) == [["lamps", "fickle", "1.0", "/lamps", made["Id"]]]
    [row] = cells(await terminal.run("get", "endpointstatus", "lamps"))
    assert row[:2] == [standing["AgentId"], "Ready"]


async def test_an_unknown_one_is_named(terminal: Terminal) -> None:
    for kind, among in (("endpointstatus", "endpoints"), ("installation", "apipackages")):
        ended = await terminal.run("get", kind, "lumps")
        assert ended.code == 1
        assert f"there is no 'lumps' among the {among}" in ended.err
