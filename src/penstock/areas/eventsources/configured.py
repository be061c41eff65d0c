"""The configuration of an event source or trigger: checked against its kind, its secrets kept apart."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import msgspec

from penstock.areas.eventsources.known_kinds import KnownKinds
from penstock.connectors.reference import names_in
from penstock.connectors.registry import Family, configuration_object, registry
from penstock.connectors.secret_fields import check_unmasked, with_secrets, without_secrets
from penstock.connectors.source import SourceKind
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.wire import encode


class Names(NamedTuple):
    """What callers call the parts."""

    type: str
    version: str
    configuration: str


@dataclass(frozen=True)
class Configured:
    """A use of a kind. text: JSON with secrets masked; secrets: by their paths in it."""

    kind: type[SourceKind]
    text: str
    secrets: Mapping[str, str]

    @property
    def shown(self) -> dict[str, Any]:
        """The configuration as an object, secrets masked."""
        return configuration_object(self.text)

    @property
    def references(self) -> list[str]:
        """The variables in it."""
        return sorted(names_in(self.opened()))

    def opened(self) -> dict[str, Any]:
        """The configuration with its secrets."""
        found: dict[str, Any] = with_secrets(self.kind.schema(), self.shown, self.secrets)
        return found


class Configurations:
    """Checks uses of kinds of event sources."""

    def __init__(self, kinds: KnownKinds) -> None:
        self._kinds = kinds
        self._registry = registry()

    async def checked(
        self,
        identifier: str | None,
        version: str | None,
        configuration: str | None,
        names: Names,
        *,
        before: Configured | None = None,
        guard: AddressGuard | None = None,
    ) -> Configured:
        """A use of a kind as somebody wants it.

        before: as it is now; its secrets stay where a mask stands for them and nothing else changes.

        guard: for a place whose addresses are known here. Raises Invalid, the parts named by `names`.
        """
        await self._kinds.refresh()
        try:
            kind = cast(type[SourceKind], self._registry.kind(Family.SOURCE, identifier, version))
            given = configuration_object(configuration)
            if before is not None and before.kind is kind and given == before.shown:
                return before
            opened = encode(given).decode()
            await self._registry.check(Family.SOURCE, identifier, version, opened, guard)
            check_unmasked(kind.schema(), given, "Configuration")
        except Invalid as error:
            raise _renamed(error, names) from None
        public, secrets = without_secrets(kind.schema(), given)
        return Configured(kind, encode(public).decode(), secrets)

    async def stored(self, identifier: str, version: str, text: str, sealed: str | None) -> Configured:
        """What was stored. Raises Invalid when the kind is not there any more."""
        registered = await self._kinds.source(identifier, version)
        return Configured(cast(type[SourceKind], registered.kind), text, unsealed(sealed))


def sealed(secrets: Mapping[str, str]) -> str:
    """The form in which secrets are sealed."""
    return encode(secrets).decode()


def unsealed(text: str | None) -> dict[str, str]:
    return msgspec.json.decode(text, type=dict[str, str]) if text else {}


def _renamed(error: Invalid, names: Names) -> Invalid:
    """The error in the caller's terms."""
    new = {"Type": names.type, "Version": names.version, "Configuration": names.configuration}
    return Invalid([FieldError(_with_head(each.field, new), each.message) for each in error.errors])


def _with_head(field: str, names: Mapping[str, str]) -> str:
    head, dot, rest = field.partition(".")
    return f"{names.get(head, head)}{dot}{rest}"
