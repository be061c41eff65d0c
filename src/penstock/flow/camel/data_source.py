"""Databases that flows name, as beans of a Camel process."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from penstock.kernel.errors import Invalid

if TYPE_CHECKING:
    from sqlalchemy.engine import URL

VARIABLE = "datasource."
"""What the name of a database's variable begins with."""


class _Driver(msgspec.Struct, frozen=True):
    """package: Maven coordinate. bean: the class of its data source."""

    package: str
    bean: str
    scheme: str
    port: int | None


_DRIVERS: Mapping[str, _Driver] = MappingProxyType(
    {
        "postgresql": _Driver(
            "org.postgresql:postgresql:42.7.8", "org.postgresql.ds.PGSimpleDataSource", "postgresql", 5432
        ),
        "sqlite": _Driver("org.xerial:sqlite-jdbc:3.51.1.0", "org.sqlite.SQLiteDataSource", "sqlite", None),
    }
)


class DataSource(msgspec.Struct, frozen=True):
    """package: what the flow needs on its class path. properties: Camel's, which hold the password, too."""

    package: str
    properties: dict[str, str]
    password: str


def data_source(name: str, address: str) -> DataSource:
    """The bean for an address as SQLAlchemy writes it. Raises Invalid; the address is not repeated."""
    from sqlalchemy.engine import make_url  # large, and few flows need it
    from sqlalchemy.exc import ArgumentError

    variable = f"{VARIABLE}{name}"
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):
        raise Invalid.one(variable, "must be an address like 'postgresql://user:password@host/database'") from None
    driver = _DRIVERS.get(url.get_backend_name())
    if driver is None:
        known = ", ".join(sorted(_DRIVERS))
        raise Invalid.one(variable, f"is a database that Camel flows do not know by variable (known: {known})")
    bean = f"camel.beans.{name}"
    properties = {bean: f"#class:{driver.bean}", f"{bean}.url": _jdbc(driver, url)}
    if url.username:
        properties[f"{bean}.user"] = url.username
    if url.password:
        properties[f"{bean}.password"] = url.password
    return DataSource(driver.package, properties, str(url.password or ""))


def _jdbc(driver: _Driver, url: "URL") -> str:
    if driver.port is None:
        return f"jdbc:{driver.scheme}:{url.database or ':memory:'}"
    host = f"[{url.host}]" if url.host and ":" in url.host else url.host
    return f"jdbc:{driver.scheme}://{host}:{url.port or driver.port}/{url.database or ''}"
