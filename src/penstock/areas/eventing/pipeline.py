"""What a channel is made of: its components and endpoints, checked against their kinds, their secrets apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from penstock.areas.eventing.model import ChannelComponent
from penstock.connectors.kind import Kind
from penstock.connectors.registry import Family, Registry, configuration_object
from penstock.connectors.secret_fields import check_unmasked, with_secrets, without_secrets
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.errors import FieldError, Invalid

PartSecrets = Mapping[str, Mapping[str, str]]
"""Secrets by part (`Endpoints[0]`) and path in its configuration."""

_MOST = 100


@dataclass(frozen=True)
class Pipeline:
    """Components and endpoints in the order given, which a `position` overrides."""

    components: Sequence[ChannelComponent] = ()
    endpoints: Sequence[ChannelComponent] = ()

    def map(self, change: "Callable[[str, Family, ChannelComponent], ChannelComponent]") -> "Pipeline":
        """Each part replaced by what `change` makes of its place (`Endpoints[0]`), family and itself."""
        return Pipeline(
            *(
                [change(f"{name}[{index}]", family, part) for index, part in enumerate(parts)]
                for name, family, parts in self._lists()
            )
        )

    def _lists(self) -> Sequence[tuple[str, Family, Sequence[ChannelComponent]]]:
        return (
            ("Components", Family.COMPONENT, self.components),
            ("Endpoints", Family.ENDPOINT, self.endpoints),
        )

    async def check(self, registry: Registry, guard: AddressGuard) -> None:
        """Checks every part. Raises Invalid with fields like `Endpoints[0].Configuration.url`."""
        errors: list[FieldError] = []
        for name, family, parts in self._lists():
            if len(parts) > _MOST:
                errors.append(FieldError(name, f"must be at most {_MOST}"))
            for index, part in enumerate(parts[:_MOST]):
                try:
                    kind = await registry.check(family, part.type, part.version, part.json_configuration, guard)
                    check_unmasked(kind.schema(), configuration_object(part.json_configuration), "Configuration")
                except Invalid as error:
                    errors += [FieldError(f"{name}[{index}].{e.field}", e.message) for e in error.errors]
        if errors:
            raise Invalid(errors)

    def normal(self, registry: Registry) -> "Pipeline":
        """Types, versions and identifiers as their kinds write them. Call it on what was checked."""

        def normal(_: str, family: Family, part: ChannelComponent) -> ChannelComponent:
            kind = registry.kind(family, part.type, part.version)
            return msgspec.structs.replace(
                part, type=kind.identifier, version=kind.version, component_type_identifier=kind.identifier
            )

        return self.map(normal)

    def closed(self, registry: Registry) -> tuple["Pipeline", PartSecrets]:
        """The pipeline with its secrets masked, and the secrets."""
        secrets: dict[str, Mapping[str, str]] = {}

        def close(place: str, kind: type[Kind], configuration: Any) -> Any:
            public, found = without_secrets(kind.schema(), configuration)
            if found:
                secrets[place] = found
            return public

        return self._configured(registry, close), secrets

    def unchanged(self, before: "Pipeline") -> set[str]:
        """The places of parts that are those of `before`, masks included."""
        places: set[str] = set()
        for (name, _, parts), (_, _, earlier) in zip(self._lists(), before._lists(), strict=True):
            for index, (part, other) in enumerate(zip(parts, earlier, strict=False)):
                same_type = (part.type or "").casefold() == (other.type or "").casefold()
                if same_type and _object(part) == _object(other):
                    places.add(f"{name}[{index}]")
        return places

    def opened(self, registry: Registry, secrets: PartSecrets) -> "Pipeline":
        """The pipeline with its secrets in the clear: those that are masked and known."""

        def reveal(place: str, kind: type[Kind], configuration: Any) -> Any:
            return with_secrets(kind.schema(), configuration, secrets.get(place, {}))

        return self._configured(registry, reveal)

    def _configured(self, registry: Registry, change: Callable[[str, type[Kind], Any], Any]) -> "Pipeline":
        def configure(place: str, family: Family, part: ChannelComponent) -> ChannelComponent:
            kind, given = registry.find(family, part.type or ""), _object(part)
            # Without the kind, whose package may be gone, secrets cannot be told from the rest.
            if kind is None or given is None:
                return part
            return msgspec.structs.replace(part, json_configuration=_text(change(place, kind, given)))

        return self.map(configure)


def _object(part: ChannelComponent) -> Any:
    try:
        return configuration_object(part.json_configuration)
    except Invalid:
        return None


def _text(configuration: Any) -> str:
    return msgspec.json.encode(configuration).decode()
