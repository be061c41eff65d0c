"""Which variables of the platform a flow's text refers to."""

import re
from collections.abc import Iterator

_VARIABLE = re.compile(r"\{\{var:([A-Za-z0-9][A-Za-z0-9._-]{0,127})\}\}", re.ASCII)
_DATA_SOURCE = re.compile(r"\bdataSource(?:=|['\"]?:\s*['\"]?)#(?:bean:)?([A-Za-z0-9][A-Za-z0-9._-]*)", re.ASCII)

DATA_SOURCE = "datasource."
"""What the name of a variable with the address of a database begins with."""


def variables_in(text: str) -> Iterator[str]:
    """The names in `{{var:NAME}}`, and the variables that `dataSource: "#NAME"` stands for."""
    yield from _VARIABLE.findall(text)
    for name in _DATA_SOURCE.findall(text):
        yield f"{DATA_SOURCE}{name}"
