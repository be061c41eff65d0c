"""The SQLite store beside bare sqlite3: durable creates, reads by id, lists."""

import asyncio
import sqlite3
import tempfile
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from statistics import median
from time import perf_counter

from penstock.kernel.actor import SYSTEM
from penstock.kernel.entity import Entity
from penstock.kernel.wire import encode, join_array
from penstock.store.definition import Collection, Column, ColumnType
from penstock.store.sqlite import SqliteStore
from penstock.store.write import Insert

TITLE = "Store: SQLite with group commit, beside bare sqlite3 with one commit for each request"

_TURNS = 5
_STORED = 2000
_CREATES = {1: 200, 16: 800, 64: 1600}
_READS = 5000
_LISTS = 200
_AT_ONCE = 16
_PAGE = 100

Rows = list[tuple[str, str]]
Work = Callable[[], Awaitable[object]]


class Article(Entity):
    name: str
    topic: str
    text: str


ARTICLES = Collection(
    "article",
    Article,
    (
        Column[Article]("name", of=lambda article: article.name, type=ColumnType.KEY, unique=True),
        Column[Article]("topic", of=lambda article: article.topic),
    ),
)


class _Bare:
    """One table with the same columns and indexes; each create has a transaction of its own, in a thread."""

    def __init__(self, path: Path) -> None:
        self._writer = _connect(path)
        self._reader = _connect(path)
        self._thread = ThreadPoolExecutor(1)
        self._writer.executescript(
            "CREATE TABLE article (seq INTEGER PRIMARY KEY, id TEXT UNIQUE, name TEXT UNIQUE, topic TEXT, body BLOB);"
            "CREATE INDEX topic ON article (topic);"
        )

    async def create(self, article: Article) -> None:
        await asyncio.get_running_loop().run_in_executor(self._thread, self._insert, article)

    def _insert(self, article: Article) -> None:
        row = (str(article.id), article.name.casefold(), article.topic, encode(article))
        self._writer.execute("BEGIN IMMEDIATE")
        self._writer.execute("INSERT INTO article (id, name, topic, body) VALUES (?, ?, ?, ?)", row)
        self._writer.execute("COMMIT")

    async def read(self, article: Article) -> bytes:
        [(body,)] = self._reader.execute("SELECT body FROM article WHERE id = ?", (str(article.id),)).fetchall()
        assert isinstance(body, bytes)
        return body

    async def list(self) -> bytes:
        found = self._reader.execute("SELECT body FROM article ORDER BY seq DESC LIMIT ?", (_PAGE,))
        return join_array([body for (body,) in found.fetchall()])

    def close(self) -> None:
        self._thread.shutdown()
        self._writer.close()
        self._reader.close()


class _Ours:
    def __init__(self, store: SqliteStore) -> None:
        self._store = store

    async def create(self, article: Article) -> None:
        assert article.e_tag is not None
        await self._store.commit([Insert(ARTICLES, article.key, article.e_tag, article, datetime.now(UTC))])

    async def read(self, article: Article) -> bytes:
        document = await self._store.get(ARTICLES, article.key)
        assert document is not None
        return document.body

    async def list(self) -> bytes:
        return join_array([each.body for each in await self._store.list(ARTICLES, limit=_PAGE)])


_numbers = count()


def _article() -> Article:
    number = next(_numbers)
    return Article(name=f"Article {number}", topic=f"topic {number % 20}", text="x" * 400).created(
        SYSTEM, datetime.now(UTC)
    )


async def run() -> Rows:
    with tempfile.TemporaryDirectory(prefix="penstock-bench-") as name:
        store = SqliteStore(Path(name) / "store.db")
        await store.open([ARTICLES], [])
        bare = _Bare(Path(name) / "bare.db")
        try:
            return await _measure(_Ours(store), bare)
        finally:
            bare.close()
            await store.close()


async def _measure(ours: _Ours, bare: _Bare) -> Rows:
    stored = [_article() for _ in range(_STORED)]
    await asyncio.gather(*(side.create(each) for each in stored for side in (ours, bare)))
    rows = []
    for callers, creates in _CREATES.items():
        label = f"create, durable, {callers} at once"
        rows += await _compare(
            label, lambda: ours.create(_article()), lambda: bare.create(_article()), creates, callers
        )
    one = stored[_STORED // 2]
    rows += await _compare("read by id", lambda: ours.read(one), lambda: bare.read(one), _READS, _AT_ONCE)
    rows += await _compare(f"list of {_PAGE}", ours.list, bare.list, _LISTS, _AT_ONCE)
    return rows


async def _compare(label: str, ours: Work, bare: Work, calls: int, callers: int) -> Rows:
    """By turns, since the machine's speed varies; the ratio is the median of the turns' ratios."""
    rates = [(await _rate(ours, calls, callers), await _rate(bare, calls, callers)) for _ in range(_TURNS)]
    own, other = (median(side) for side in zip(*rates, strict=True))
    ratio = median(mine / theirs for mine, theirs in rates)
    return [(label, f"{ratio:.2f} x bare ({own:.0f}/s, bare {other:.0f}/s)")]


async def _rate(work: Work, calls: int, callers: int) -> float:
    async def call() -> None:
        for _ in range(calls // callers):
            await work()

    began = perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for _ in range(callers):
            tasks.create_task(call())
    return calls / (perf_counter() - began)


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection
