"""Makes the database that the example flows use: `python3 shop.py FILE`."""

import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as connection:
    connection.execute(
        "CREATE TABLE IF NOT EXISTS goods (sku TEXT PRIMARY KEY, name TEXT, price INTEGER, exported INTEGER DEFAULT 0)"
    )
    connection.executemany(
        "INSERT OR IGNORE INTO goods (sku, name, price) VALUES (?, ?, ?)", [("a1", "apples", 3), ("b2", "bread", 5)]
    )
connection.close()
