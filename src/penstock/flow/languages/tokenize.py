"""`tokenize`: the parts of a text."""

import re
from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.language import Language, Use
from penstock.flow.parts import tokens
from penstock.flow.value_source import ValueSource
from penstock.flow.values import text_of


class Tokenize(Language, frozen=True, kw_only=True):
    """A list of what stands between the tokens in a text."""

    element = "tokenize"
    shorthand = "token"

    token: Annotated[str, Meta(description="What separates the parts, like `,`; `\\n` is a line break.", min_length=1)]
    regex: Annotated[bool, Meta(description="Whether the token is a regular expression.")] = False
    group: Annotated[int | None, Meta(description="Puts so many parts together, with the token between.", ge=1)] = None
    group_delimiter: Annotated[str | None, Meta(description="What stands between parts put together.")] = None
    skip_first: Annotated[bool, Meta(description="Leaves out the first part.")] = False
    source: Annotated[ValueSource, Meta(description="What is split instead of the body, like `header:NAME`.")] = (
        ValueSource("body")
    )
    trim: Annotated[bool, Meta(description="Taken as it is: parts are not trimmed.")] = True

    def check(self, use: Use) -> None:
        if self.regex:
            try:
                re.compile(self.token)
            except re.error as error:
                raise ValueError(f"token is no regular expression: {error}") from None

    async def evaluate(self, exchange: Exchange, flow: FlowContext) -> object:
        value = self.source.of(exchange)
        if value is None:
            return []
        parts = self._parts(text_of(value))[1 if self.skip_first else 0 :]
        if self.group is None:
            return parts
        between = self.group_delimiter if self.group_delimiter is not None else self._token
        return [between.join(parts[at : at + self.group]) for at in range(0, len(parts), self.group)]

    @property
    def _token(self) -> str:
        return self.token.replace("\\n", "\n").replace("\\t", "\t").replace("\\r", "\r")

    def _parts(self, text: str) -> list[str]:
        if not text:
            return []
        if not self.regex:
            return tokens(text, self._token)
        found = [part or "" for part in re.split(self.token, text)]
        return found[:-1] if found[-1] == "" else found
