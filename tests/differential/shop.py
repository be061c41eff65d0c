"""The database that the flows use."""

import sqlite3
from pathlib import Path


def make_shop(folder: Path) -> str:
    """Its address."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "shop.db"
    with sqlite3.connect(file) as connection:
        connection.execute("create table goods (sku text primary key, name text, price integer)")
        connection.execute("create table orders (sku text)")
        connection.executemany("insert into goods values (?, ?, ?)", [("a1", "apple", 3), ("b2", "bread", 5)])
    connection.close()
    return f"sqlite:///{file}"
