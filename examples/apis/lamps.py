"""Makes the database of the tutorial, /tmp/lamps.db."""

import sqlite3
from contextlib import closing

with closing(sqlite3.connect("/tmp/lamps.db")) as database:  # noqa: S108 - the tutorial's own
    database.executescript("""
        DROP TABLE IF EXISTS lamps;
        CREATE TABLE lamps (id INTEGER PRIMARY KEY, name TEXT, watts REAL);
        INSERT INTO lamps (name, watts) VALUES ('desk', 9), ('floor', 15.5);
    """)
