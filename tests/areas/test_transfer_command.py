"""File transfers from the command line, with a real agent."""

from tests.areas.transfer_site import PATH, Site, local, slow
from tests.program import Terminal

pytest_plugins = ("tests.terminals",)


async def test_a_run_that_is_followed_tells_its_end(site: Site, admin: Terminal) -> None:
    async with local(site, "in") as source, local(site, "out") as destination:
        (source.folder / "a").write_text("a")
        await site.save(source, destination)
        await site.online()
        ended = await admin.run("mft", "run", site.name, "--follow")
        assert (ended.code, f"{site.name}: done" in ended.out) == (0, True)
        assert (destination.folder / "a").exists()
    assert site.name in (await admin.run("get", "transfers")).out
    assert (await admin.run("get", "transfer-runs", site.name)).code == 0
    assert "copy" in (await admin.run("get", "transferred-files", site.name)).out


async def test_a_run_that_fails_fails_the_command(site: Site, admin: Terminal) -> None:
    async with local(site, "in") as source, local(site, "out") as destination:
        (destination.folder / "kept").write_text("x")
        await site.save(source, destination, Command="sync")
        await site.online()
        ended = await admin.run("mft", "run", site.name, "--follow")
        assert (ended.code, "would delete 1 of 1 files" in ended.out) == (1, True)
        assert (await admin.run("mft", "run", site.name, "--follow", "--force")).code == 0
        assert not (destination.folder / "kept").exists()


async def test_a_run_that_is_not_followed_is_only_ordered(site: Site, admin: Terminal) -> None:
    async with slow(site) as begun:
        await begun()
        ended = await admin.run("mft", "run", site.name)
        assert (ended.code, ended.out.startswith("Ordered.")) == (0, True)
        await site.application.operator.post(f"{PATH}/stop", params={"mftName": site.name})


async def test_a_transfer_without_an_agent_is_told(site: Site, admin: Terminal) -> None:
    async with local(site, "in") as source, local(site, "out") as destination:
        await site.save(source, destination, Requirements=[{"Identifier": "Site", "Value": "nowhere"}])
    ended = await admin.run("mft", "run", site.name, "--follow")
    assert (ended.code, "No agent that is online" in ended.err) == (1, True)


async def test_an_unknown_transfer_is_told(admin: Terminal) -> None:
    ended = await admin.run("mft", "run", "nowhere")
    assert (ended.code, "does not exist" in ended.err) == (1, True)
