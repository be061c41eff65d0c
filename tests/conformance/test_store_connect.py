"""From the setting to a store."""

from pathlib import Path

import pytest

from penstock.kernel.errors import Invalid
from penstock.store.connect import store_for
from penstock.store.postgres import PostgresStore
from penstock.store.sqlite import SqliteStore
from tests.conformance.library import BOOKS, LOANS


@pytest.mark.parametrize(
    "url",
    [
        "",
        "store.db",
        "/var/lib/store.db",
        "sqlite:",
        "sqlite://",
        "sqlite:///",
        "sqlite://host/store.db",
        "sqlite:///store.db?mode=ro",
        "mysql://root:pass-word@host/db",
        "postgresql://user:pass-word@host:port/db",
        "postgresql://user:pass-word@host/db?no_such_option=1",
        "postgresql://[::1/db",
    ],
)
def test_a_url_that_names_no_store_is_refused_by_setting_without_being_repeated(url: str) -> None:
    with pytest.raises(Invalid, match=r"^PENSTOCK_DATABASE_URL: must be like") as refused:
        store_for(url)
    assert "pass-word" not in str(refused.value)
    assert refused.value.__context__ is None or refused.value.__suppress_context__


@pytest.mark.parametrize(("scheme", "kind"), [("postgresql", PostgresStore), ("postgres", PostgresStore)])
def test_postgresql_has_two_schemes(scheme: str, kind: type) -> None:
    assert isinstance(store_for(f"{scheme}://user:pass@host:5432/db?sslmode=require"), kind)


async def test_a_path_is_relative_with_three_slashes_and_may_be_escaped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for url, path in (
        ("sqlite:///one.db", tmp_path / "one.db"),
        (f"sqlite:///{tmp_path}/two.db", tmp_path / "two.db"),
        ("sqlite:///a%20b%3F.db", tmp_path / "a b?.db"),
    ):
        store = store_for(url)
        assert isinstance(store, SqliteStore)
        await store.open([BOOKS], [LOANS])
        await store.close()
        assert path.exists()


async def test_a_server_that_cannot_be_reached_is_told_of_without_the_password() -> None:
    store = store_for("postgresql://user:pass-word@127.0.0.1:1/db?connect_timeout=2")
    with pytest.raises(Exception, match="does not answer") as failed:
        await store.open([BOOKS], [LOANS])
    assert "pass-word" not in str(failed.value)
