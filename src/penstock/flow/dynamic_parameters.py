"""Options of an endpoint whose values are made anew for each exchange."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Self
from urllib.parse import quote_plus

from penstock.flow.exchange import Exchange
from penstock.flow.simple import DynamicText

if TYPE_CHECKING:
    from penstock.flow.context import FlowContext


class DynamicParameters(tuple[tuple[str, DynamicText], ...]):
    """Names and values, which may hold simple functions."""

    __slots__ = ()

    takes_variables = True

    @classmethod
    def parse(cls, text: str) -> Self:
        raise ValueError("must be a mapping of options")

    @classmethod
    def parse_mapping(cls, entries: Iterable[tuple[str, str]]) -> Self:
        """Raises ValueError, as DynamicText does."""
        return cls((name, DynamicText.parse(value)) for name, value in entries)

    async def added_to(self, uri: DynamicText, exchange: Exchange, flow: "FlowContext") -> str:
        """The uri with these options behind it."""
        text = await uri.evaluate_text(exchange, flow)
        options = [
            f"{quote_plus(name)}={quote_plus(await value.evaluate_text(exchange, flow))}" for name, value in self
        ]
        return "".join((text, "&" if "?" in text else "?", "&".join(options))) if options else text
