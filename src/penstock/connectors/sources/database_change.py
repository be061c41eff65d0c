"""`database-change`: rows of a table that were added or changed."""

import asyncio
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from sqlalchemy.engine import Engine
from sqlalchemy.exc import SQLAlchemyError

from penstock.connectors.database_value import plain
from penstock.connectors.kind import Secret
from penstock.connectors.source import Finding, Findings, Position, SourceFailed, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.connectors.table_changes import Changes, Identity, TableChanges
from penstock.egress.database_address import DatabaseAddress, DatabaseFailed
from penstock.kernel.errors import FieldError, Invalid

_AT_ONCE = 200


class Tracking(StrEnum):
    """How changes are known: by a column that grows with each new row, or with each change of a row."""

    GROWING = "growing"
    VERSION = "version"


class DatabaseChangeSource(SourceKind, frozen=True):
    """Sends an event for each row that is added (`penstock.database.inserted`) or, by a version column, added or
    changed (`penstock.database.changed`).

    Rows that are there at the first poll make no events. A row that is changed twice between two polls makes one.
    Deletions are not seen.
    """

    identifier = "database-change"
    requires_polling = True
    stateful = True
    shared = True

    url: Annotated[
        Secret,
        Meta(
            description="Address like `postgresql://user:{{var:PASSWORD}}@host/database` or `sqlite:////folder/x.db`."
        ),
    ]
    table: Annotated[str, Meta(min_length=1, description="Table or view.")]
    table_schema: Annotated[str | None, Meta(description="Schema of the table.")] = None
    tracking: Annotated[
        Tracking,
        Meta(
            description="`growing`: the column grows with each new row, like an identity. `version`: with each change "
            "of a row, like a row version or the time of the last change."
        ),
    ] = Tracking.GROWING
    column: Annotated[str, Meta(min_length=1, description="The column that grows; its values never fall.")]
    key: Annotated[
        list[str], Meta(description="Columns that tell rows apart; needed when values of `column` are not unique.")
    ] = []
    columns: Annotated[list[str], Meta(description="Columns that events carry; all when left out.")] = []
    window: Annotated[
        int,
        Meta(
            ge=1,
            le=10_000,
            description="How many of the latest rows are looked at again each time, to find those "
            "that were committed late.",
        ),
    ] = 200

    def check(self) -> None:
        super().check()
        errors = []
        try:
            DatabaseAddress.parse(self.url)
        except ValueError as error:
            errors.append(FieldError("url", str(error)))
        if self.tracking is Tracking.VERSION and not self.key:
            errors.append(FieldError("key", "is needed to track by version"))
        if errors:
            raise Invalid(errors)

    def targets(self) -> Mapping[str, str]:
        host = DatabaseAddress.parse(self.url).host
        return {"url": host} if host else {}

    def origin(self) -> Sequence[Any]:
        url = DatabaseAddress.parse(self.url).url
        where = [url.get_backend_name(), url.host, url.port, url.database, url.query.get("host")]
        return [*where, self.table_schema, self.table, self.column, self.key]

    async def poll(self, position: Position, surroundings: SourceSurroundings) -> Findings:
        address = DatabaseAddress.parse(self.url)
        try:
            engine = await address.engine(surroundings.guard, surroundings.check_file, read_only=True)
            return await asyncio.to_thread(self._read, engine, position)
        except SQLAlchemyError as error:
            raise SourceFailed(address.masked(_reason(error))) from None
        except DatabaseFailed as error:
            raise SourceFailed(error.detail) from None
        except ValueError as error:
            raise SourceFailed(str(error)) from None

    def _read(self, engine: Engine, position: Position) -> Findings:
        table = TableChanges(self.table, self.table_schema, self.column, self.key, self.columns, self.window)
        with engine.connect() as connection:
            if position is None:
                return Findings(position={"seen": table.newest(connection)})
            changes = table.since(connection, position["seen"], _AT_ONCE)
        return self._findings(changes)

    def _findings(self, changes: Changes) -> Findings:
        found = [self._finding(identity, row) for identity, row in changes.rows]
        return Findings(found=found, position={"seen": changes.seen}, more=changes.more)

    def _finding(self, identity: Identity, row: Mapping[str, Any]) -> Finding:
        names = list(dict.fromkeys([self.column, *self.key]))
        known = dict(zip(names, (plain(value) for value in identity), strict=True))
        key = {name: known[name] for name in self.key or [self.column]}
        act = "inserted" if self.tracking is Tracking.GROWING else "changed"
        values = {name: plain(value) for name, value in row.items()}
        return Finding(
            key=msgspec.json.encode([self.table_schema, self.table, known]).decode(),
            type=f"penstock.database.{act}",
            subject="/".join([self.table, *(str(value) for value in key.values())]),
            data={"Table": self.table, "Key": key, "Version": known[self.column], "Row": values},
        )


def _reason(error: SQLAlchemyError) -> str:
    """What the database says, without the statement and its values."""
    cause = getattr(error, "orig", None) or error
    lines = str(cause).strip().splitlines()
    return f"the database cannot be read: {lines[0] if lines else type(cause).__name__}"
