"""Random histories of commits, checked against a model that is a dictionary."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from dataclasses import replace as changed
from datetime import datetime, timedelta
from itertools import count
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from penstock.kernel.actor import SYSTEM
from penstock.kernel.clock import ManualClock
from penstock.kernel.errors import NameTaken, NotFound, PenstockError, Stale
from penstock.kernel.names import name_key
from penstock.kernel.wire import encode
from penstock.store.definition import Collection, Journal
from penstock.store.store import Document, Where
from penstock.store.write import Append, Delete, Insert, Replace, Require, Write
from tests.conformance.conftest import Database
from tests.conformance.library import BOOKS, LOANS, Book, Loan

IDS = [UUID(int=number) for number in range(5)]
TITLES = ["Emma", "EMMA", "Straße", "strasse", "日本"]
_examples = count()


@dataclass
class Row:
    book: Book
    created: datetime
    expires: datetime | None
    sealed: bytes | None


@dataclass
class Model:
    """What the store should hold."""

    rows: dict[UUID, Row] = field(default_factory=dict)
    loans: dict[str, Loan] = field(default_factory=dict)

    def live(self, now: datetime) -> dict[UUID, Row]:
        return {id: row for id, row in self.rows.items() if row.expires is None or row.expires > now}

    def after(self, writes: list[Write], now: datetime) -> "Model":
        """The model once all writes are done; raises what the first refused one should raise."""
        model = Model(dict(self.rows), dict(self.loans))
        for write in writes:
            model._do(write, now)
        return model

    def _do(self, write: Write, now: datetime) -> None:
        self.rows = self.live(now)
        match write:
            case Insert(body=Book() as book):
                if write.id in self.rows or self._taken(write.id, book):
                    raise NameTaken
                self.rows[write.id] = Row(book, write.at, write.expires_at, write.sealed)
            case Replace(body=Book() as book):
                row = self._current(write)
                if self._taken(write.id, book):
                    raise NameTaken
                sealed = row.sealed if write.keep_sealed else write.sealed
                self.rows[write.id] = Row(book, row.created, write.expires_at, sealed)
            case Delete():
                self._current(write)
                del self.rows[write.id]
            case Require():
                self._current(write)
            case Append():
                for entry in write.entries:
                    assert isinstance(entry, Loan)
                    self.loans.setdefault(entry.id, entry)

    def _current(self, write: Replace | Delete | Require) -> Row:
        row = self.rows.get(write.id)
        if row is None:
            raise NotFound
        if write.expected not in (None, row.book.e_tag):
            raise Stale
        return row

    def _taken(self, id: UUID, book: Book) -> bool:
        return any(
            name_key(row.book.title) == name_key(book.title) or (book.isbn and row.book.isbn == book.isbn)
            for other, row in self.rows.items()
            if other != id
        )


class StoreMachine(RuleBasedStateMachine):
    """One store under random commits, with time passing, purges and reopening in between."""

    def __init__(self, database: Database, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__()
        self._loop = loop
        self._database = changed(database, clock=ManualClock(database.clock.now()))
        number = next(_examples)
        self._books: Collection[Book] = changed(BOOKS, name=f"book{number}")
        self._loans: Journal[Loan] = changed(LOANS, name=f"loan{number}", keep=None)
        self._model = Model()
        self._tags = count()

    @initialize()
    def open(self) -> None:
        self._store = self._database.store()
        self._run(self._store.open([self._books], [self._loans]))

    def teardown(self) -> None:
        self._run(self._store.close())

    @rule()
    def reopen(self) -> None:
        self.teardown()
        self.open()

    @rule(seconds=st.integers(1, 4))
    def time_passes(self, seconds: int) -> None:
        self._run(self._database.clock.advance(timedelta(seconds=seconds)))

    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        writes = data.draw(st.lists(st.deferred(lambda: self._writes), min_size=1, max_size=3), label="writes")
        try:
            after = self._model.after(writes, self._now)
        except PenstockError as refusal:
            with pytest.raises(type(refusal)):
                self._run(self._store.commit(writes))
            return
        self._run(self._store.commit(writes))
        self._model = after

    @rule()
    def purge(self) -> None:
        self._run(self._store.purge(self._now, timedelta()))

    @invariant()
    def lists_and_counts_agree(self) -> None:
        rows = sorted(enumerate(self._live.values()), key=lambda each: (each[1].created, each[0]), reverse=True)
        wanted = [_document(row) for _, row in rows]
        assert self._run(self._store.list(self._books)) == wanted
        assert self._run(self._store.count(self._books)) == len(wanted)
        pages = {row.book.pages for _, row in rows}
        for number in pages:
            assert self._run(self._store.list(self._books, [Where("pages", "=", number)])) == [
                _document(row) for _, row in rows if row.book.pages == number
            ]

    @invariant()
    def single_reads_agree(self) -> None:
        live = self._live
        for id in IDS:
            row = live.get(id)
            assert self._run(self._store.get(self._books, id)) == (_document(row) if row else None)
            assert self._run(self._store.sealed(self._books, id)) == (row.sealed if row else None)
        for title in TITLES:
            found = [row for row in live.values() if name_key(row.book.title) == name_key(title)]
            wanted = _document(found[0]) if found else None
            assert self._run(self._store.find(self._books, "title", title)) == wanted

    @invariant()
    def journals_agree(self) -> None:
        entries = sorted(self._model.loans.values(), key=lambda loan: loan.at)  # stable: then by arrival
        assert self._run(self._store.entries(self._loans, oldest_first=True)) == [encode(each) for each in entries]

    @property
    def _now(self) -> datetime:
        return self._database.clock.now()

    @property
    def _live(self) -> dict[UUID, Row]:
        return self._model.live(self._now)

    @property
    def _writes(self) -> st.SearchStrategy[Write]:
        """Writes among few ids and titles, so that they often collide."""
        ids, seals = st.sampled_from(IDS), st.sampled_from([None, b"\0", b"sealed"])
        expiries = st.none() | st.integers(0, 5).map(lambda seconds: self._now + timedelta(seconds=seconds))
        tags = st.none() | st.sampled_from(["other", *(row.book.e_tag for row in self._live.values())])
        books = st.builds(
            self._book, ids, st.sampled_from(TITLES), st.none() | st.sampled_from("xy"), st.integers(0, 1)
        )
        loans = st.builds(
            Loan,
            id=st.sampled_from("abc"),
            at=st.sampled_from([self._now, self._database.clock.now()]),
            reader=st.just("r"),
        )
        return st.one_of(
            st.builds(self._insert, books, expiries, seals),
            st.builds(self._replace, books, tags, expiries, seals, st.booleans()),
            st.builds(lambda id, tag: Delete(self._books, id, self._now, tag), ids, tags),
            st.builds(lambda id, tag: Require(self._books, id, tag), ids, tags),
            st.builds(lambda entries: Append(self._loans, entries), st.lists(loans, max_size=2)),
        )

    def _book(self, id: UUID, title: str, isbn: str | None, pages: int) -> Book:
        book = Book(title=title, id=id, isbn=isbn, pages=pages).created(SYSTEM, self._now)
        book.e_tag = str(next(self._tags))
        return book

    def _insert(self, book: Book, expires_at: datetime | None, sealed: bytes | None) -> Insert:
        return Insert(self._books, book.key, str(book.e_tag), book, self._now, expires_at, sealed)

    def _replace(
        self, book: Book, expected: str | None, expires_at: datetime | None, sealed: bytes | None, keep: bool
    ) -> Replace:
        return Replace(
            self._books, book.key, str(book.e_tag), book, self._now, expected, expires_at, sealed, keep_sealed=keep
        )

    def _run(self, work: Coroutine[Any, Any, Any]) -> Any:
        return self._loop.run_until_complete(work)


def _document(row: Row) -> Document:
    return Document(str(row.book.id), str(row.book.e_tag), encode(row.book))


def test_every_history_of_commits_ends_as_in_the_model(database: Database) -> None:
    loop = asyncio.new_event_loop()
    try:
        run_state_machine_as_test(  # type: ignore[no-untyped-call]
            lambda: StoreMachine(database, loop),
            settings=settings(
                max_examples=40,
                stateful_step_count=25,
                deadline=None,
                suppress_health_check=[HealthCheck.too_slow],
            ),
        )
    finally:
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()
