"""The file of bus keys, and what credentials say of themselves."""

import multiprocessing
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest

from penstock.bus.credentials import BusKeys
from penstock.kernel.errors import UnusableFile


def test_keys_are_made_once_and_readable_by_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "new" / "keys.json"
    first = BusKeys.load_or_create(path)
    again = BusKeys.load_or_create(path)
    assert list(first.accounts) == list(again.accounts)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(path.parent.iterdir()) == [path]


def test_processes_that_start_at_once_get_the_same_keys(tmp_path: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        accounts = pool.map(_accounts, [tmp_path / "keys.json"] * 8, chunksize=1)
    assert len(set(accounts)) == 1


def _accounts(path: Path) -> tuple[str, ...]:
    return tuple(BusKeys.load_or_create(path).accounts)


@pytest.mark.parametrize("content", ["", "{}", '{"operator":"SO","system":"","platform":"","agents":""}'])
def test_a_damaged_file_is_named_and_left_as_it_is(tmp_path: Path, content: str) -> None:
    path = tmp_path / "keys.json"
    path.write_text(content)
    with pytest.raises(UnusableFile, match=r"keys\.json"):
        BusKeys.load_or_create(path)
    assert path.read_text() == content


def test_a_credentials_repr_shows_no_secret() -> None:
    credential = BusKeys.generate().agent_user(uuid4(), datetime.now(UTC) + timedelta(hours=1))
    assert credential.seed not in repr(credential)
    assert credential.jwt not in repr(credential)
