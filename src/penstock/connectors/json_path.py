"""JSONPath (RFC 9535) over events."""

from typing import Any

import jsonpath_rfc9535
from jsonpath_rfc9535 import JSONPathError


class JsonPath:
    """A query, parsed once."""

    def __init__(self, text: str) -> None:
        """Raises ValueError with what is wrong."""
        try:
            self._query = jsonpath_rfc9535.compile(text)
        except (JSONPathError, RecursionError) as error:
            raise ValueError(f"is no JSONPath (RFC 9535): {str(error).splitlines()[0]}") from None
        self.is_singular = self._query.singular_query()

    def matches(self, document: Any) -> bool:
        """Whether it selects anything."""
        return next(iter(self._query.finditer(document)), None) is not None

    def value(self, document: Any) -> Any:
        """What a singular query selects, None when there is nothing; all that another one selects, as a list.

        Raises ValueError when the document is nested too deeply.
        """
        try:
            values = self._query.find(document).values()
        except (JSONPathError, RecursionError) as error:
            raise ValueError(str(error)) from None
        if self.is_singular:
            return values[0] if values else None
        return values
