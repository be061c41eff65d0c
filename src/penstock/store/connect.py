"""From a database URL to a store."""

from pathlib import Path
from urllib.parse import unquote, urlsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict

from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid
from penstock.store.postgres import PostgresStore
from penstock.store.sqlite import SqliteStore
from penstock.store.store import Store
from penstock.store.upgrade import SETTING

_ALLOWED = "must be like 'sqlite:////var/lib/penstock/penstock.db' or 'postgresql://user@host/database'"


def store_for(url: str, clock: Clock | None = None) -> Store:
    """The store for `sqlite:///relative/path`, `sqlite:////absolute/path` or `postgresql://...`, not opened yet.

    Raises Invalid, naming the setting and never repeating the URL, which may hold a password.
    """
    try:
        parts = urlsplit(url)
        match parts.scheme:
            case "sqlite" if not parts.netloc and len(parts.path) > 1 and not (parts.query or parts.fragment):
                return SqliteStore(Path(unquote(parts.path[1:])), clock)
            case "postgresql" | "postgres" if _has_good_ports(url):
                return PostgresStore(url, clock)
    except (ValueError, psycopg.ProgrammingError):
        pass  # their texts repeat the URL
    raise Invalid.one(SETTING, _ALLOWED)


def _has_good_ports(url: str) -> bool:
    """Raises psycopg.ProgrammingError for what libpq cannot parse; ports it looks at only when it connects."""
    ports = str(conninfo_to_dict(url).get("port", ""))
    return all(port.isdecimal() or not port for port in ports.split(","))
