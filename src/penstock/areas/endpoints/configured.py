"""The configuration of an endpoint: checked by its API's schema, its secrets kept apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.apihost.configuration import ConfigurationSchema
from penstock.connectors.reference import names_in
from penstock.connectors.registry import configuration_object
from penstock.connectors.secret_fields import check_unmasked, with_secrets, without_secrets
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.wire import encode
from penstock.resource.ports.apis import KnownApi


@dataclass(frozen=True)
class Configured:
    """A use of an API. text: JSON with secrets masked; secrets: by their paths in it."""

    api: KnownApi
    text: str
    secrets: Mapping[str, str]

    @property
    def shown(self) -> dict[str, Any]:
        return configuration_object(self.text)

    @property
    def opened(self) -> dict[str, Any]:
        """The configuration with its secrets."""
        found: dict[str, Any] = with_secrets(msgspec.json.decode(self.api.schema), self.shown, self.secrets)
        return found

    @property
    def references(self) -> list[str]:
        """The variables in it."""
        return sorted(names_in(self.opened))


def configured(api: KnownApi, text: str | None, before: Configured | None, field: str) -> Configured:
    """A configuration as somebody wants it. Raises Invalid naming what is below `field`.

    before: as it is now; its secrets stay where a mask stands for them and nothing else changes.
    """
    given = _object(text, field)
    if before is not None and given == before.shown and (api.name, api.schema) == (before.api.name, before.api.schema):
        return Configured(api, before.text, before.secrets)
    schema = ConfigurationSchema(api.schema)
    schema.check(given, field)
    check_unmasked(schema.document, given, field)
    public, secrets = without_secrets(schema.document, given)
    return Configured(api, encode(public).decode(), secrets)


def _object(text: str | None, field: str) -> dict[str, Any]:
    try:
        return configuration_object(text)
    except Invalid as error:
        raise Invalid([FieldError(field, each.message) for each in error.errors]) from None
