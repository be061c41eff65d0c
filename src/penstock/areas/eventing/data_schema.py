"""JSON Schemas of event data."""

from collections.abc import Sequence
from itertools import islice
from typing import Any

import jsonschema_rs

from penstock.kernel.errors import FieldError, Invalid

_MOST_ERRORS = 20
_LONGEST_MESSAGE = 300


class DataSchema:
    """A compiled schema, of the draft that it names, 2020-12 unless it names one.

    References to other documents are not fetched. Patterns are matched in linear time.
    """

    def __init__(self, text: str) -> None:
        """Raises Invalid naming `DataSchema`."""
        try:
            self._validator = jsonschema_rs.validator_for(
                text, offline=True, pattern_options=jsonschema_rs.RegexOptions()
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            reason = str(getattr(error, "message", error)).partition("\n")[0]
            raise Invalid.one("DataSchema", f"is no JSON Schema that can be used: {reason}") from None

    def errors(self, data: Any) -> Sequence[FieldError]:
        """What is wrong with the data, fields as `data.lines[0].price`; at most 20."""
        if self._validator.is_valid(data):
            return ()
        return [
            FieldError(_path(error.instance_path), error.message[:_LONGEST_MESSAGE])
            for error in islice(self._validator.iter_errors(data), _MOST_ERRORS)
        ]


def _path(path: Sequence[str | int]) -> str:
    return "data" + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
