"""What an expression looks at instead of the body."""

from typing import Self

from penstock.flow.exchange import Exchange

_FORM = "must be body, header:NAME, property:NAME or variable:NAME"


class ValueSource(str):
    """`body`, or one of `header:`, `property:` and `variable:` with a name."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for anything else."""
        kind, _, name = text.partition(":")
        if kind != "body" and (kind not in ("header", "property", "exchangeProperty", "variable") or not name):
            raise ValueError(_FORM)
        return cls(text)

    def of(self, exchange: Exchange) -> object:
        kind, _, name = self.partition(":")
        if kind == "header":
            return exchange.headers.get(name)
        if kind == "variable":
            return exchange.variables.get(name)
        return exchange.body if kind == "body" else exchange.properties.get(name)
