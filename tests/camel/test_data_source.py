"""Databases that flows name become beans of a Camel process."""

import pytest

from penstock.flow.camel.data_source import data_source
from penstock.kernel.errors import Invalid


def test_an_address_of_postgresql_becomes_a_bean_with_user_and_password() -> None:
    source = data_source("orders", "postgresql+psycopg://ann:p%40ss@db.example/shop")
    assert source.properties == {
        "camel.beans.orders": "#class:org.postgresql.ds.PGSimpleDataSource",
        "camel.beans.orders.url": "jdbc:postgresql://db.example:5432/shop",
        "camel.beans.orders.user": "ann",
        "camel.beans.orders.password": "p@ss",
    }
    assert source.package.startswith("org.postgresql:postgresql:")
    assert source.password == "p@ss"


def test_a_file_of_sqlite_and_an_address_of_ipv6_are_written_as_java_wants_them() -> None:
    assert data_source("a", "sqlite:////data/a.db").properties["camel.beans.a.url"] == "jdbc:sqlite:/data/a.db"
    url = data_source("a", "postgresql://u:p@[::1]:6000/b").properties["camel.beans.a.url"]
    assert url == "jdbc:postgresql://[::1]:6000/b"


@pytest.mark.parametrize("address", ["nonsense", "oracle://u:secret@h/d"])
def test_what_cannot_be_used_is_told_without_the_address(address: str) -> None:
    with pytest.raises(Invalid) as refused:
        data_source("a", address)
    assert "datasource.a" in str(refused.value)
    assert "secret" not in str(refused.value)
