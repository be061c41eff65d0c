"""The name of a database in a flow."""

import re

_NAME = re.compile(r"#(?:bean:)?([A-Za-z0-9][A-Za-z0-9._-]*)")


class DataSource(str):
    """The name of a database: the variable `datasource.NAME` holds its address."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> "DataSource":
        """Raises ValueError for anything but `#NAME`."""
        match = _NAME.fullmatch(text.strip())
        if match is None:
            raise ValueError("must be a name like '#orders', whose address is the variable 'datasource.orders'")
        return cls(match[1])
