import stat
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.agent.folder import AgentFolder, FolderInUse
from penstock.agent.identity import DamagedIdentity, Identity, load_identity, save_identity


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[AgentFolder]:
    folder = AgentFolder(tmp_path / "agent")
    folder.open()
    yield folder
    folder.close()


def identity() -> Identity:
    return Identity(uuid4(), "north-1", "hush", "http://server", datetime(2026, 1, 1, tzinfo=UTC))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_one_agent_at_a_time_holds_a_folder(folder: AgentFolder) -> None:
    second = AgentFolder(folder.path)
    with pytest.raises(FolderInUse, match=str(folder.path)):
        second.open()

    folder.close()
    second.open()
    second.close()


def test_folder_and_files_are_for_their_user_alone(folder: AgentFolder) -> None:
    folder.write("secret", b"x")

    assert mode(folder.path) == 0o700
    assert mode(folder.path / "secret") == 0o600


def test_a_folder_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    (tmp_path / "agent").mkdir(mode=0o755)
    folder = AgentFolder(tmp_path / "agent")
    folder.open()
    folder.close()

    assert mode(tmp_path / "agent") == 0o700


def test_writing_replaces_and_leaves_nothing_behind(folder: AgentFolder) -> None:
    folder.write("file", b"one")
    folder.write("file", b"two")

    assert folder.read("file") == b"two"
    assert sorted(file.name for file in folder.path.iterdir()) == ["file", "lock"]


def test_a_file_that_is_not_there_reads_as_none(folder: AgentFolder) -> None:
    assert folder.read("file") is None


def test_an_identity_is_read_as_it_was_saved(folder: AgentFolder) -> None:
    assert load_identity(folder) is None

    saved = identity()
    save_identity(folder, saved)
    assert load_identity(folder) == saved


def test_a_damaged_identity_is_told_with_its_file(folder: AgentFolder) -> None:
    folder.write("identity.json", b'{"agent_id": ')

    with pytest.raises(DamagedIdentity, match=r"identity\.json"):
        load_identity(folder)


def test_a_credential_is_not_shown() -> None:
    assert "hush" not in repr(identity())
