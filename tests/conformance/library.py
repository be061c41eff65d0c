"""What the store tests store: books, and a journal of loans."""

from datetime import datetime, timedelta
from uuid import UUID

import msgspec

from penstock.kernel.actor import SYSTEM
from penstock.kernel.entity import Entity
from penstock.kernel.ids import new_id
from penstock.kernel.wire import Map, Wire
from penstock.store.definition import Collection, Column, ColumnType, Journal
from penstock.store.write import Append, Insert, Replace


class Book(Entity):
    title: str
    isbn: str | None = None
    shelf: str | None = None
    pages: int = 0
    price: float = 0.0
    lent: bool = False
    notes: Map = {}


class Loan(Wire):
    id: str
    at: datetime
    reader: str


TITLE = Column[Book]("title", of=lambda book: book.title, type=ColumnType.KEY, unique=True)
ISBN = Column[Book]("isbn", of=lambda book: book.isbn, unique=True)
SHELF = Column[Book]("shelf", of=lambda book: book.shelf)
PAGES = Column[Book]("pages", of=lambda book: book.pages, type=ColumnType.INTEGER)
PRICE = Column[Book]("price", of=lambda book: book.price, type=ColumnType.REAL)
LENT = Column[Book]("lent", of=lambda book: book.lent, type=ColumnType.INTEGER)
READER = Column[Loan]("reader", of=lambda loan: loan.reader)

BOOKS = Collection("book", Book, (TITLE, ISBN, SHELF, PAGES, PRICE, LENT))
LOANS = Journal(
    "loan", Loan, at=lambda loan: loan.at, key=lambda loan: loan.id, columns=(READER,), keep=timedelta(days=10)
)


def book(now: datetime, title: str, id: UUID | None = None, **fields: object) -> Book:
    """A book as a service would make it."""
    return Book(title=title, id=id, **fields).created(SYSTEM, now)  # type: ignore[arg-type]


def insert(book: Book, at: datetime, collection: Collection[Book] = BOOKS, **fields: object) -> Insert:
    assert book.e_tag is not None
    return Insert(collection, book.key, book.e_tag, book, at, **fields)  # type: ignore[arg-type]


def replace(before: Book, at: datetime, expected: str | None = None, **fields: object) -> tuple[Book, Replace]:
    """The book with other fields, and the write for it."""
    after = msgspec.structs.replace(before, **fields).changed(before, SYSTEM, at)
    assert after.e_tag is not None
    return after, Replace(BOOKS, after.key, after.e_tag, after, at, expected)


def lend(at: datetime, reader: str, id: str | None = None) -> Append:
    return Append(LOANS, [Loan(id=id or new_id().hex, at=at, reader=reader)])
