"""Configurations made ready for use: variables replaced, and the secrets in them known, to keep them out of texts."""

from collections.abc import Mapping
from typing import Any

from penstock.connectors.kind import Kind
from penstock.connectors.reference import names_in, replaced
from penstock.connectors.registry import built
from penstock.connectors.schema_walk import Schema, Text, mapped
from penstock.connectors.secret_fields import MASK
from penstock.kernel.errors import FieldError, Invalid

Values = Mapping[str, tuple[str, bool]]
"""Variables: name -> (value, whether it is secret)."""

_SHORTEST = 4
"""Characters; hiding shorter secrets would only make texts unreadable, and show where they stand."""


class Secrets:
    """The secrets that a channel uses."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def add(self, secret: str) -> None:
        if len(secret) >= _SHORTEST:
            self._known.add(secret)

    def hidden(self, text: str) -> str:
        """The text without them."""
        for secret in sorted(self._known, key=len, reverse=True):
            text = text.replace(secret, MASK)
        return text


def resolved(kind: type[Kind], configuration: Any, values: Values, secrets: Secrets) -> Kind:
    """A use of the kind, see `filled`. Raises Invalid naming the fields, also for whatever does not fit then."""
    return built(kind, filled(kind.schema(), configuration, values, secrets))


def filled(schema: Schema, configuration: Any, values: Values, secrets: Secrets) -> Any:
    """The configuration with the variables in it. configuration: an object with its own secrets put back; they are
    added to `secrets`, as are secret variables.

    Raises Invalid naming the fields: for unknown variables, and secret ones where others could read them.
    """
    errors: list[FieldError] = []

    def resolve(text: str, path: str, place: Text) -> str:
        for name in sorted(names_in(text)):
            if name not in values:
                errors.append(FieldError(f"Configuration.{path}", f"the variable '{name}' does not exist"))
                return text
            value, secret = values[name]
            if secret:
                secrets.add(value)
            if secret and not place.confidential:
                errors.append(
                    FieldError(
                        f"Configuration.{path}", f"the variable '{name}' is a secret, which others could read here"
                    )
                )
                return text
        whole: str = replaced(text, lambda name: values[name][0])
        if place.secret:
            secrets.add(whole)
        return whole

    ready = mapped(configuration, schema, resolve)
    if errors:
        raise Invalid(errors)
    return ready
