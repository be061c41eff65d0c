"""The secrets inside a configuration: taken out before it is stored or answered, put back before it is used."""

from collections.abc import Mapping
from typing import Any

from penstock.connectors.kind import Kind
from penstock.connectors.reference import is_reference
from penstock.connectors.schema_walk import Text, mapped

MASK = "******"


def without_secrets(kind: type[Kind], configuration: Any) -> tuple[Any, dict[str, str]]:
    """The configuration with its secrets masked, and the secrets by their paths (`signing.secrets[0]`).

    What is made of `{{var:NAME}}` alone stays: it gives nothing away.
    """
    secrets: dict[str, str] = {}

    def mask(text: str, path: str, kind: Text) -> str:
        if not kind.secret or text == MASK or is_reference(text):
            return text
        secrets[path] = text
        return MASK

    return mapped(configuration, kind.schema(), mask), secrets


def with_secrets(kind: type[Kind], configuration: Any, secrets: Mapping[str, str]) -> Any:
    """The configuration with masked texts replaced by the secrets at their paths."""

    def unmask(text: str, path: str, kind: Text) -> str:
        return secrets.get(path, text) if kind.secret and text == MASK else text

    return mapped(configuration, kind.schema(), unmask)
