"""`transform`: gives events another form."""

from typing import Annotated, Any

from msgspec import Meta

from penstock.connectors.component import Apply, ComponentKind
from penstock.connectors.failure import Undeliverable
from penstock.connectors.surroundings import Surroundings
from penstock.connectors.template import Fill, parsed
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.cloudevent import CloudEvent

_KEPT = ("id", "specversion", "data", "data_base64")


class TransformComponent(ComponentKind, frozen=True):
    """Makes the event's data, attributes or both anew from templates over the event.

    In templates `${data.order.id}` selects by names and `${$..price}` by JSONPath.
    """

    identifier = "transform"

    data: Annotated[
        Any, Meta(description="Template of the data: any JSON whose texts may hold `${...}`. Left out: it stays.")
    ] = None
    attributes: Annotated[
        dict[str, str],
        Meta(description="Templates of attributes and extensions. One that comes out empty is removed. `id` stays."),
    ] = {}

    def check(self) -> None:
        errors = [FieldError(f"attributes.{name}", "cannot be changed") for name in _KEPT if name in self.attributes]
        try:
            parsed(self.data, "data")
        except ValueError as error:
            errors.append(FieldError("data", str(error)))
        for name, template in self.attributes.items():
            try:
                parsed(template)
            except ValueError as error:
                errors.append(FieldError(f"attributes.{name}", str(error)))
        if self.data is None and not self.attributes:
            errors.append(FieldError("data", "is required without attributes"))
        if errors:
            raise Invalid(errors)

    def start(self, surroundings: Surroundings) -> Apply:
        data = parsed(self.data) if self.data is not None else None
        attributes = {name: parsed(template) for name, template in self.attributes.items()}

        async def apply(event: CloudEvent) -> CloudEvent | None:
            try:
                return CloudEvent.from_value(_transformed(event.value(), data, attributes))
            except (Invalid, ValueError) as error:
                raise Undeliverable(f"the transformed event is not valid: {error}") from None

        return apply


def _transformed(event: dict[str, Any], data: Fill | None, attributes: dict[str, Fill]) -> dict[str, Any]:
    changed = {name: fill(event) for name, fill in attributes.items()}
    result = {**event, **{name: value if value != "" else None for name, value in changed.items()}}
    if data is not None:
        result.pop("data_base64", None)
        result["data"] = data(event)
    return result
