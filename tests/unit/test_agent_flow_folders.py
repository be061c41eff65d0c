"""Where the texts and files of flows lie on an agent."""

from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

import pytest

from penstock.agent.flow_folders import FlowFolders
from penstock.agent.reading import packages_of
from penstock.kernel.errors import Unavailable
from penstock.protocol.work import FlowFile, IntegrationStatusEnum2, WorkItem


class Servers:
    """Has contents by their hashes, and counts how often it was asked."""

    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.asked = 0

    def file(self, name: str, content: bytes) -> FlowFile:
        digest = sha256(content).hexdigest()
        self.contents[digest] = content
        return FlowFile(name=name, sha256=digest, size=len(content))

    async def fetch(self, file: FlowFile) -> bytes:
        self.asked += 1
        if file.sha256 not in self.contents:
            raise Unavailable("away")
        return self.contents[file.sha256]


def item(version: str, *files: FlowFile, spec: str = "- from: x", packages: str | None = None) -> WorkItem:
    return WorkItem(
        name="Orders",
        stamp=version,
        version=version,
        requested=IntegrationStatusEnum2.STARTED,
        since=datetime(2026, 3, 1, tzinfo=UTC),
        spec=spec,
        files=list(files),
        packages=packages,
    )


async def test_text_and_files_are_laid_out_and_a_file_that_stays_is_not_asked_for_again(tmp_path: Path) -> None:
    servers = Servers()
    folders = FlowFolders(tmp_path / "flows", servers.fetch)
    kept, old, new = servers.file("a.sql", b"select 1"), servers.file("b.txt", b"old"), servers.file("b.txt", b"new")
    first = await folders.lay_out(item("1", kept, old))
    second = await folders.lay_out(item("2", kept, new))
    assert first.text.read_text() == "- from: x"
    assert [(first.files / name).read_bytes() for name in ("a.sql", "b.txt")] == [b"select 1", b"old"]
    assert [(second.files / name).read_bytes() for name in ("a.sql", "b.txt")] == [b"select 1", b"new"]
    assert servers.asked == 3
    await folders.keep_only(item("2", kept, new))
    assert not first.path.exists()
    assert second.path.exists()


async def test_what_is_laid_out_is_found_again_without_the_servers(tmp_path: Path) -> None:
    servers = Servers()
    wanted = item("1", servers.file("a.txt", b"a"))
    first = await FlowFolders(tmp_path, servers.fetch).lay_out(wanted)
    servers.contents.clear()
    assert await FlowFolders(tmp_path, servers.fetch).lay_out(wanted) == first


async def test_a_version_whose_files_cannot_be_had_is_not_there_at_all(tmp_path: Path) -> None:
    servers = Servers()
    there, away = servers.file("a.txt", b"a"), servers.file("b.txt", b"b")
    del servers.contents[away.sha256]
    folders = FlowFolders(tmp_path, servers.fetch)
    with pytest.raises(Unavailable):
        await folders.lay_out(item("1", there, away))
    assert not list(tmp_path.rglob("a.txt"))


async def test_the_same_version_of_another_flow_of_the_name_has_its_own_folder(tmp_path: Path) -> None:
    folders = FlowFolders(tmp_path, Servers().fetch)
    one = await folders.lay_out(item("1", spec="- from: one"))
    other = await folders.lay_out(item("1", spec="- from: other"))
    assert (one.text.read_text(), other.text.read_text()) == ("- from: one", "- from: other")


async def test_nothing_is_left_of_a_flow_that_was_removed(tmp_path: Path) -> None:
    servers = Servers()
    folders = FlowFolders(tmp_path, servers.fetch)
    await folders.lay_out(item("1", servers.file("a.txt", b"a")))
    await folders.remove("ORDERS")
    assert not list(tmp_path.iterdir())


def test_packages_are_separated_by_commas_and_lines_and_requirements_keep_their_own_commas() -> None:
    text = "requests[socks,use]>=2, <3\npandas==2.2 , org.apache.camel:camel-kafka:4.18.0,\n"
    assert packages_of(item("1", packages=text)) == (
        "requests[socks,use]>=2, <3",
        "pandas==2.2",
        "org.apache.camel:camel-kafka:4.18.0",
    )
