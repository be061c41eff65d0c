"""The secrets inside a configuration: taken out before it is stored or answered, put back before it is used."""

from collections.abc import Mapping
from typing import Any

from penstock.connectors.reference import is_reference
from penstock.connectors.schema_walk import Schema, Text, mapped
from penstock.kernel.errors import FieldError, Invalid

MASK = "******"
_MASKED = "is a mask, which keeps the secret only while the rest of the configuration stays: give the secret"


def without_secrets(schema: Schema, configuration: Any) -> tuple[Any, dict[str, str]]:
    """The configuration with its secrets masked, and the secrets by their paths (`signing.secrets[0]`).

    What is made of `{{var:NAME}}` alone stays: it gives nothing away.
    """
    secrets: dict[str, str] = {}

    def mask(text: str, path: str, place: Text) -> str:
        if not place.secret or text == MASK or is_reference(text):
            return text
        secrets[path] = text
        return MASK

    return mapped(configuration, schema, mask), secrets


def with_secrets(schema: Schema, configuration: Any, secrets: Mapping[str, str]) -> Any:
    """The configuration with masked texts replaced by the secrets at their paths."""

    def unmask(text: str, path: str, place: Text) -> str:
        return secrets.get(path, text) if place.secret and text == MASK else text

    return mapped(configuration, schema, unmask)


def check_unmasked(schema: Schema, configuration: Any, field: str) -> None:
    """Raises Invalid naming what is below `field` and holds a mask where a secret belongs."""
    masked: list[FieldError] = []

    def find(text: str, path: str, place: Text) -> str:
        if place.secret and text == MASK:
            masked.append(FieldError(f"{field}.{path}", _MASKED))
        return text

    mapped(configuration, schema, find)
    if masked:
        raise Invalid(masked)
