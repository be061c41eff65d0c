"""The configuration of an API: checked by the JSON Schema that its package gives, references to variables let be."""

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import jsonschema_rs
import msgspec

from penstock.connectors.reference import without_unknown
from penstock.kernel.errors import FieldError, Invalid

_MOST_ERRORS = 20
_LONGEST_MESSAGE = 300


class ConfigurationSchema:
    """text: JSON Schema of the draft that it names, 2020-12 unless it names one. Nothing is fetched for it."""

    def __init__(self, text: str) -> None:
        """Raises Invalid for a text that is no schema."""
        self.document: dict[str, Any] = msgspec.json.decode(text)
        try:
            # The value itself may be a secret.
            self._validator = jsonschema_rs.validator_for(
                text, offline=True, mask="the value", pattern_options=jsonschema_rs.RegexOptions()
            )
        except (jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError, ValueError) as error:
            reason = str(getattr(error, "message", error)).partition("\n")[0]
            raise Invalid.one("", f"the API's configuration_schema cannot be used: {reason}") from None

    def check(self, configuration: Mapping[str, Any], field: str) -> None:
        """Raises Invalid naming what is below `field`. What a variable's value may mend is passed over."""
        found = [
            each for error in islice(self._validator.iter_errors(configuration), _MOST_ERRORS) for each in _told(error)
        ]
        errors = without_unknown(found, configuration)
        if errors:
            raise Invalid([FieldError(f"{field}.{e.field}" if e.field else field, e.message) for e in errors])


def _told(error: jsonschema_rs.ValidationError) -> list[FieldError]:
    """The error by the field that it is about, rather than the object that the field is in."""
    kind = error.kind
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
        return [FieldError(_path([*error.instance_path, str(kind.property).strip('"')]), "is required")]
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        return [FieldError(_path([*error.instance_path, name]), "is not a known field") for name in kind.unexpected]
    return [FieldError(_path(error.instance_path), error.message[:_LONGEST_MESSAGE])]


def _path(parts: Sequence[str | int]) -> str:
    """Like `servers[0].url`."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in parts).removeprefix(".")
