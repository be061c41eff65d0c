"""Variables in what is published, replaced by their values."""

from collections.abc import Mapping
from typing import Any

from penstock.areas.apim.header_checks import is_sendable
from penstock.connectors.reference import replaced
from penstock.kernel.names import name_key


class NotReplaceable(Exception):
    """A variable does not exist, or its value does not fit where it is used; says which, never the value."""


class Substitution:
    """own: of the version or the subscription, which win. platform: name -> value; both compared without case."""

    def __init__(self, own: Mapping[str, Any], platform: Mapping[str, str]) -> None:
        self._own = {name_key(name): str(value) for name, value in own.items()}
        self._platform = platform

    def text(self, field: str, text: str) -> str:
        """Raises NotReplaceable."""

        def value_of(name: str) -> str:
            key = name_key(name)
            value = self._own.get(key, self._platform.get(key))
            if value is None:
                raise NotReplaceable(f"{field}: the variable '{name}' does not exist")
            return value

        found: str = replaced(text, value_of)
        return found

    def optional(self, field: str, text: str | None) -> str | None:
        """Raises NotReplaceable."""
        return None if text is None else self.text(field, text)

    def headers(self, field: str, headers: Mapping[str, str]) -> dict[str, str]:
        """Raises NotReplaceable."""
        found = {name: self.text(f"{field}.{name}", value) for name, value in headers.items()}
        for name, value in found.items():
            if not is_sendable(value):
                raise NotReplaceable(f"{field}.{name}: a variable's value cannot be sent in a header")
        return found
