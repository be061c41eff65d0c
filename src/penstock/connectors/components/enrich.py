"""`enrich`: adds constants and variables to events."""

from typing import Annotated, Any

from msgspec import Meta

from penstock.connectors.component import Apply, ComponentKind
from penstock.connectors.failure import Undeliverable
from penstock.connectors.surroundings import Surroundings
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.cloudevent import CloudEvent

_SAMPLE = {"id": "1", "source": "/", "type": "t", "specversion": "1.0"}


class EnrichComponent(ComponentKind, frozen=True):
    """Adds members to the event's data and extension attributes to the event; `{{var:NAME}}` is a variable's value.

    What the event has already stays, unless `overwrite` is set. Objects are merged member by member.
    """

    identifier = "enrich"

    data: Annotated[dict[str, Any], Meta(description="Members to add to the data, which must be an object.")] = {}
    extensions: Annotated[
        dict[str, str | bool | int], Meta(description="Extension attributes to add; names are of a-z 0-9.")
    ] = {}
    overwrite: Annotated[bool, Meta(description="Replaces what the event has already.")] = False

    def check(self) -> None:
        errors = [FieldError(f"extensions.{name}", "is no extension") for name in self.extensions if name in _RESERVED]
        try:
            CloudEvent.from_value({**_SAMPLE, **self.extensions} if not errors else _SAMPLE)
        except Invalid as error:
            errors += [FieldError(f"extensions.{e.field}", e.message) for e in error.errors]
        if not self.data and not self.extensions:
            errors.append(FieldError("data", "is required without extensions"))
        if errors:
            raise Invalid(errors)

    def start(self, surroundings: Surroundings) -> Apply:
        async def apply(event: CloudEvent) -> CloudEvent | None:
            value = event.value()
            value = {**value, **self.extensions} if self.overwrite else {**self.extensions, **value}
            if self.data:
                value["data"] = self._enriched(event)
            return CloudEvent.from_value(value)

        return apply

    def _enriched(self, event: CloudEvent) -> dict[str, Any]:
        data = {} if event.data is None and event.data_base64 is None else event.data
        if not isinstance(data, dict):
            raise Undeliverable("only data that is a JSON object can be enriched")
        return _merged(self.data, data) if not self.overwrite else _merged(data, self.data)


_RESERVED = frozenset(CloudEvent.__struct_fields__) - {"extensions"}


def _merged(below: dict[str, Any], above: dict[str, Any]) -> dict[str, Any]:
    """Both; where they differ, `above`."""
    merged = {**below, **above}
    for name, value in above.items():
        under = below.get(name)
        if isinstance(value, dict) and isinstance(under, dict):
            merged[name] = _merged(under, value)
    return merged
