"""The tables that a store was opened with."""

from collections.abc import Sequence
from typing import Any

from penstock.store.definition import Collection, Journal
from penstock.store.dialect import Dialect
from penstock.store.documents import DocumentTable
from penstock.store.entries import EntryTable


class Catalog:
    """Finds the table of a collection or journal; KeyError for one that the store was not opened with."""

    def __init__(
        self, dialect: Dialect, collections: Sequence[Collection[Any]], journals: Sequence[Journal[Any]]
    ) -> None:
        self.documents = {each.name: DocumentTable(dialect, each) for each in collections}
        self.journals = {each.name: EntryTable(dialect, each) for each in journals}

    def table(self, collection: Collection[Any]) -> DocumentTable:
        return self.documents[collection.name]

    def entries(self, journal: Journal[Any]) -> EntryTable:
        return self.journals[journal.name]
