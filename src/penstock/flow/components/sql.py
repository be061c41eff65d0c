"""`sql:STATEMENT`: runs a statement in a database."""

from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from msgspec import Meta

from penstock.flow.component import Consumer, Producer
from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.intake import Intake
from penstock.flow.listener import Level
from penstock.flow.period import Period
from penstock.flow.poller import Poller
from penstock.flow.sql.data_source import DataSource
from penstock.flow.sql.sql_query import QueryFailed, SqlQuery

if TYPE_CHECKING:
    from penstock.flow.sql.databases import Database

_CAMEL_OVERRIDES = ("CamelSqlQuery", "CamelSqlParameters", "CamelSqlRetrieveGeneratedKeys", "CamelSqlGeneratedColumns")


class OutputType(StrEnum):
    """What a query's rows become."""

    SELECT_LIST = "SelectList"
    SELECT_ONE = "SelectOne"
    STREAM_LIST = "StreamList"


class Sql(Consumer, Producer, frozen=True, kw_only=True):
    """Runs a statement with parameters: `:#name` from a map in the body or from the headers, `:#${expression}`,
    `:#in:name` for a list, `#` for the elements of the body.

    In `to`, the body becomes the rows of a query, as maps, and CamelSqlRowCount their number; any other statement
    leaves the body and sets CamelSqlUpdateCount. In `from`, the query is run again and again, and each row is an
    exchange.
    """

    element = "sql"
    path = "query"

    query: Annotated[SqlQuery, Meta(description="The statement.")]
    data_source: Annotated[
        DataSource, Meta(description="`#NAME`; the variable `datasource.NAME` holds the database's address.")
    ]
    output_type: Annotated[
        OutputType,
        Meta(
            description="A list of maps, or one row: the map, the value when it has one column, nothing when there is "
            "no row. StreamList is a list too, without CamelSqlRowCount."
        ),
    ] = OutputType.SELECT_LIST
    output_header: Annotated[str, Meta(description="Header for the result, instead of the body.")] = ""
    batch: Annotated[
        bool, Meta(description="Runs the statement for each element of the body, all or none of them.")
    ] = False
    separator: Annotated[str, Meta(description="Between values in a body that is text.", min_length=1)] = ","
    noop: Annotated[bool, Meta(description="Leaves the body as it is.")] = False

    initial_delay: Annotated[Period, Meta(description="In `from`: time before the first look.")] = Period(seconds=1)
    delay: Annotated[Period, Meta(description="In `from`: time between the end of a look and the next.")] = Period(
        milliseconds=500
    )
    use_iterator: Annotated[bool, Meta(description="In `from`: each row is an exchange, else all together.")] = True
    route_empty_result_set: Annotated[
        bool, Meta(description="In `from`, without useIterator: an exchange also for no rows.")
    ] = False
    max_messages_per_poll: Annotated[int, Meta(description="In `from`: rows of one look. 0: all.", ge=0)] = 0
    on_consume: Annotated[SqlQuery | None, Meta(description="In `from`: statement after each exchange.")] = None
    on_consume_failed: Annotated[
        SqlQuery | None, Meta(description="In `from`: statement after each failed exchange.")
    ] = None
    on_consume_batch_complete: Annotated[
        SqlQuery | None, Meta(description="In `from`: statement after all exchanges of a look.")
    ] = None
    expected_update_count: Annotated[
        int, Meta(description="In `from`: rows that onConsume must change. -1: any number.")
    ] = -1

    async def send(self, exchange: Exchange, flow: FlowContext) -> None:
        for name in _CAMEL_OVERRIDES:
            if name in exchange.headers:
                raise QueryFailed(f"header '{name}' is not known here: a message cannot change the statement")
        database = await flow.surroundings.databases.open(self.data_source, flow.variables)
        if self.batch:
            await self._run_batch(database, exchange, flow)
            return
        outcome = await database.run(await self.query.bind(exchange.body, exchange, flow, self.separator))
        if outcome.rows is None:
            exchange.headers["CamelSqlUpdateCount"] = outcome.changed
            return
        result = self._result(outcome.rows)
        if self.output_type is not OutputType.STREAM_LIST:
            rows = len(outcome.rows) if self.output_type is OutputType.SELECT_LIST else min(len(outcome.rows), 1)
            exchange.headers["CamelSqlRowCount"] = rows
        if self.output_header:
            exchange.headers[self.output_header] = result
        elif not self.noop:
            exchange.body = result

    async def _run_batch(self, database: "Database", exchange: Exchange, flow: FlowContext) -> None:
        items = exchange.body if isinstance(exchange.body, list | tuple) else [exchange.body]
        queries = [await self.query.bind(item, exchange, flow, self.separator) for item in items]
        exchange.headers["CamelSqlUpdateCount"] = await database.run_all(queries)

    def _result(self, rows: list[dict[str, Any]]) -> object:
        if self.output_type is not OutputType.SELECT_ONE:
            return rows
        if len(rows) > 1:
            raise QueryFailed(f"Query result not unique for outputType=SelectOne. Got {len(rows)} count instead.")
        if rows and len(rows[0]) == 1:
            return next(iter(rows[0].values()))
        return rows[0] if rows else None

    async def start(self, intake: Intake) -> None:
        poller = Poller(intake, self.initial_delay, self.delay)
        poller.start(partial(self._poll, poller, intake))

    async def _poll(self, poller: Poller, intake: Intake) -> None:
        """One look: the rows one after the other."""
        flow = intake.flow
        database = await flow.surroundings.databases.open(self.data_source, flow.variables)
        outcome = await database.run(await self.query.bind(None, intake.exchange(), flow, self.separator))
        rows = outcome.rows or []
        if self.max_messages_per_poll:
            rows = rows[: self.max_messages_per_poll]
        bodies: list[object] = [*rows] if self.use_iterator else [rows] if rows or self.route_empty_result_set else []
        for index, body in enumerate(bodies):
            exchange = intake.exchange()
            exchange.body = body
            exchange.properties |= {
                "CamelBatchIndex": index,
                "CamelBatchSize": len(bodies),
                "CamelBatchComplete": index == len(bodies) - 1,
            }
            await poller.take(exchange, partial(self._consumed, body, intake, database))
        if bodies and self.on_consume_batch_complete is not None:
            query = self.on_consume_batch_complete
            await database.run(await query.bind(None, intake.exchange(), flow, self.separator))

    async def _consumed(self, body: object, intake: Intake, database: "Database", exchange: Exchange) -> None:
        """Runs the statement for an exchange that has ended."""
        query = self.on_consume if exchange.error is None else self.on_consume_failed
        if query is None:
            return
        flow = intake.flow
        try:
            outcome = await database.run(await query.bind(body, exchange, flow, self.separator))
            if self.expected_update_count not in (-1, outcome.changed):
                raise QueryFailed(
                    f"Expected update count {self.expected_update_count} but was {outcome.changed} "
                    f"executing query: {query}"
                )
        except QueryFailed as error:
            flow.log(Level.WARN, f"Error executing onConsume query {query}", intake.route, exchange.id, error)
