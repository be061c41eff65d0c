"""File transfers with a real agent and real storages: what moved, what failed and why, whatever is killed."""

from pathlib import Path

from tests.areas.files import files_that_contain
from tests.areas.transfer_site import PATH, SIZE, Site, local, slow
from tests.areas.waiting import until
from tests.storage_server import PASSWORD, storage_server


async def test_files_go_from_sftp_to_s3_and_the_history_says_so(site: Site, tmp_path: Path) -> None:
    async with (
        storage_server("sftp", tmp_path / "sftp") as source,
        storage_server("s3", tmp_path / "served" / "bucket") as destination,
    ):
        (source.folder / "a.csv").write_text("a,1")
        (source.folder / "b.txt").write_text("b")
        await site.save(source, destination, Filters="*.csv", FlowName="nightly")
        await site.order()
        run = await site.ended()
        assert (run["Stats"]["Transfers"], run["Stats"]["Bytes"], run["Stats"]["Errors"]) == (1, 3, 0)
        assert (destination.folder / "a.csv").read_text() == "a,1"
        assert not (destination.folder / "b.txt").exists()
    [file] = (await site.application.reader.get(f"{PATH}/filetransfers", params={"MftName": site.name})).json()
    assert (file["FileName"], file["Operation"], file["FlowName"]) == ("a.csv", "copy", "nightly")
    assert (file["FromProtocol"], file["ToProtocol"]) == ("sftp", "s3")
    one = await site.application.reader.get(f"{PATH}/{site.name}/history/{run['Id']}")
    assert one.json() == run
    assert PASSWORD not in one.text
    assert files_that_contain(site.kept, PASSWORD) == []


async def test_a_transfer_runs_when_it_is_due_and_its_ticks_are_accounted_for(site: Site) -> None:
    async with local(site, "in") as source, local(site, "out") as destination:
        await site.save(source, destination, Schedule="* * * * * ?", RequestedStatus=1)
        await site.ended(runs=2)
        await site.application.operator.post(f"{PATH}/stop", params={"mftName": site.name})
        ticks = (await site.application.reader.get(f"{PATH}/{site.name}/ticks")).json()
    assert len([tick for tick in ticks if tick["Outcome"] == "fired"]) >= 2


async def test_a_storage_without_credentials_that_hold_is_an_error_in_plain_words(site: Site, tmp_path: Path) -> None:
    async with storage_server("sftp", tmp_path / "sftp") as source, local(site, "out") as destination:
        wrong = source._replace(variables={**source.variables, "pass": "wrong-secret"})
        await site.save(wrong, destination)
        await site.order()
        run = await site.ended()
    assert "does not accept the credentials" in run["Items"][-1]["Msg"]
    assert "wrong-secret" not in str(run)
    status = (await site.application.reader.get(f"{PATH}/{site.name}/status")).json()
    assert [each["Status"] for each in status] == [1]


async def test_a_folder_that_the_agent_does_not_allow_is_refused(site: Site, tmp_path: Path) -> None:
    async with storage_server("local", tmp_path / "elsewhere") as source, local(site, "out") as destination:
        (source.folder / "secret").write_text("x")
        await site.save(source, destination)
        await site.order()
        run = await site.ended()
    assert "PENSTOCK_AGENT_LOCAL_FOLDERS" in run["Items"][-1]["Msg"]
    assert list((site.files / "out").iterdir()) == []


async def test_stopping_ends_the_run_under_way(site: Site) -> None:
    async with slow(site) as wanted:
        await wanted()
        await site.application.operator.post(f"{PATH}/stop", params={"mftName": site.name})
        run = await site.ended()
    assert run["Items"][-1]["Msg"] == "it was stopped while it ran"


async def test_a_run_cut_by_a_kill_is_an_error_and_the_next_one_completes_it(site: Site) -> None:
    async with slow(site) as wanted:
        await wanted()
        await site.end(kill=True)
        await site.start()
        assert (await site.ended())["Items"][-1]["Msg"] == "the agent stopped while it ran"
        await site.save(*wanted.sides)
        await site.order()
        await site.ended(runs=2)
    assert (site.files / "out" / "large").stat().st_size == SIZE


async def test_an_order_that_finds_a_run_under_way_begins_no_other(site: Site) -> None:
    async with slow(site) as wanted:
        await wanted()
        await site.order()
        await site.application.operator.post(f"{PATH}/stop", params={"mftName": site.name})
        await site.ended()
        assert len(await site.runs()) == 1


async def test_a_sync_of_an_emptied_source_needs_force(site: Site) -> None:
    async with local(site, "in") as source, local(site, "out") as destination:
        (destination.folder / "kept").write_text("x")
        await site.save(source, destination, Command="sync")
        await site.order()
        assert "would delete 1 of 1 files" in (await site.ended())["Items"][-1]["Msg"]
        assert (destination.folder / "kept").exists()
        await site.order(force="true")
        await site.ended(runs=2)
        assert not (destination.folder / "kept").exists()


async def test_progress_is_told_while_it_runs(site: Site) -> None:
    async with slow(site) as wanted:
        await wanted()
        async with site.application.reader.stream("GET", f"{PATH}/{site.name}/progress/live") as answer:
            lines = answer.aiter_lines()
            assert await anext(lines) == "event: progress"
            assert '"Run"' in await anext(lines)

        async def moving() -> bool:
            return ((await site.progress())["Percent"] or 0) > 0

        await until(moving)
        await site.application.operator.post(f"{PATH}/stop", params={"mftName": site.name})
        await site.ended()
