"""Addresses of databases as SQLAlchemy writes them, and how they are connected to without going anywhere else."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import sqlalchemy as sql
from sqlalchemy.engine import URL, Engine, make_url
from sqlalchemy.exc import ArgumentError, NoSuchModuleError
from sqlalchemy.pool import NullPool, QueuePool

from penstock.egress.address_guard import AddressGuard
from penstock.kernel.errors import Forbidden, PenstockError

_CONNECT_SECONDS = 10
_STATEMENT_SECONDS = 60
_KEPT_SECONDS = 600
_EXPECTED = "must be an address like 'postgresql://user:password@host/database' or 'sqlite:////folder/file.db'"
# Others could name another host than the one that was checked, or files.
_OPTIONS = {"application_name", "charset", "driver", "encrypt", "host", "ssl", "sslmode", "trustservercertificate"}
_SQLITE = "sqlite"
_POSTGRESQL = "postgresql"

CheckFile = Callable[[Path], Path]
"""Answers the path without links; raises Forbidden for a file that may not be used."""


class DatabaseFailed(PenstockError):
    """The database cannot be connected to from here."""

    code = "database-failed"
    title = "The database cannot be used"


@dataclass(frozen=True)
class DatabaseAddress:
    """host: empty for a file or the machine's own socket. file: of an SQLite database."""

    url: URL
    host: str
    file: Path | None

    @classmethod
    def parse(cls, text: str) -> "DatabaseAddress":
        """Raises ValueError with what is allowed; the text, which holds a password, is not repeated."""
        try:
            url = make_url(text)
        except (ArgumentError, ValueError):
            raise ValueError(_EXPECTED) from None
        unknown = {name.lower() for name in url.query} - _OPTIONS
        if unknown:
            raise ValueError(f"may only have the options {', '.join(sorted(_OPTIONS))}")
        if url.get_backend_name() == _SQLITE:
            return cls(url, "", _file(url))
        hosts = [host for host in (url.host, url.query.get("host")) if host]
        if len(hosts) > 1 or any(not isinstance(host, str) or "," in host for host in hosts):
            raise ValueError("must name one host")
        host = str(hosts[0]) if hosts else ""
        return cls(url, "" if host.startswith("/") else host, None)

    async def engine(
        self, guard: AddressGuard, check_file: CheckFile, *, read_only: bool, connections: int = 0
    ) -> Engine:
        """Connects to what the address means here.

        connections: how many to have at most, kept for the next use; 0: each use has its own. Raises Forbidden,
        DatabaseFailed.
        """
        try:
            if self.file is not None:
                file = _sqlite(check_file(self.file), read_only)
                return _engine(file, {"timeout": _CONNECT_SECONDS}, connections)
            if not self.host and not guard.allow_private:
                raise Forbidden("a database on the machine itself may not be used here")
            address = (await guard.resolve(self.host))[0] if self.host else ""
            return self._connecting_to(address, read_only, connections)
        except NoSuchModuleError:
            raise DatabaseFailed(f"databases of the kind {self.url.drivername} are not known here") from None
        except ImportError as error:
            raise DatabaseFailed(f"the driver {error.name or self.url.drivername} is not installed here") from None
        except OSError:
            raise DatabaseFailed(f"{self.host} has no address") from None

    def masked(self, text: str) -> str:
        """The text without the password."""
        return text.replace(self.url.password, "******") if self.url.password else text

    def _connecting_to(self, address: str, read_only: bool, connections: int) -> Engine:
        if self.url.get_backend_name() != _POSTGRESQL:
            return _engine(self.url.set(host=address), {}, connections)
        # The name stays for the certificate; the connection goes to the address that was checked.
        pinned = {"hostaddr": address} if address else {}
        options = f"-c statement_timeout={_STATEMENT_SECONDS * 1000}"
        if read_only:
            options += " -c default_transaction_read_only=on"
        url = self.url if "+" in self.url.drivername else self.url.set(drivername="postgresql+psycopg")
        arguments = {"connect_timeout": _CONNECT_SECONDS, "options": options, **pinned}
        return _engine(url, arguments, connections)


def _engine(url: URL | str, arguments: dict[str, Any], connections: int) -> Engine:
    if not connections:
        return sql.create_engine(url, poolclass=NullPool, connect_args=arguments)
    return sql.create_engine(
        url,
        poolclass=QueuePool,
        pool_size=connections,
        max_overflow=0,
        pool_timeout=_CONNECT_SECONDS,
        pool_recycle=_KEPT_SECONDS,
        pool_pre_ping=True,
        connect_args=arguments,
    )


def _file(url: URL) -> Path:
    if not url.database or not url.database.startswith("/"):
        raise ValueError(
            "must name the file of an SQLite database with its absolute path, like 'sqlite:////folder/x.db'"
        )
    return Path(url.database)


def _sqlite(file: Path, read_only: bool) -> str:
    return f"sqlite+pysqlite:///file:{quote(str(file))}?mode={'ro' if read_only else 'rwc'}&uri=true"
