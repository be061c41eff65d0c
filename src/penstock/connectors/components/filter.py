"""`filter`: lets some events through and drops the others."""

from typing import Annotated

from msgspec import Meta

from penstock.connectors.component import Apply, ComponentKind
from penstock.connectors.expression import Expression
from penstock.connectors.json_path import JsonPath
from penstock.connectors.surroundings import Surroundings
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.cloudevent import CloudEvent


class FilterComponent(ComponentKind, frozen=True):
    """Lets an event through when the expression holds and the JSONPath selects something; drops all others."""

    identifier = "filter"

    expression: Annotated[
        str | None,
        Meta(
            description="Comparison as in CloudEvents SQL, such as `type LIKE 'order.%' AND data.amount > 100`. What "
            "is missing in the event makes it false."
        ),
    ] = None
    json_path: Annotated[
        str | None,
        Meta(description="JSONPath (RFC 9535) over the event in JSON, such as `$.data.items[?@.price > 10]`."),
    ] = None

    def check(self) -> None:
        if self.expression is None and self.json_path is None:
            raise Invalid.one("expression", "is required without jsonPath")
        errors = []
        for field, parse, text in (
            ("expression", Expression, self.expression),
            ("jsonPath", JsonPath, self.json_path),
        ):
            try:
                if text is not None:
                    parse(text)
            except ValueError as error:
                errors.append(FieldError(field, str(error)))
        if errors:
            raise Invalid(errors)

    def start(self, surroundings: Surroundings) -> Apply:
        expression = Expression(self.expression) if self.expression is not None else None
        path = JsonPath(self.json_path) if self.json_path is not None else None

        async def apply(event: CloudEvent) -> CloudEvent | None:
            passes = (expression is None or expression.holds(event)) and (path is None or path.matches(event.value()))
            return event if passes else None

        return apply
