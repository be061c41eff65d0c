"""`split`: takes each part of a message through steps."""

from collections.abc import Iterator
from typing import Annotated

from msgspec import Meta

from penstock.flow.context import FlowContext
from penstock.flow.exchange import Exchange
from penstock.flow.fan_out import FanOut, Part
from penstock.flow.language import Language
from penstock.flow.parts import parts_of
from penstock.flow.step import Step


class Split(Step, frozen=True, kw_only=True):
    """Makes an exchange of each part and takes it through the steps; the message goes on as it was before.

    Parts are the entries of a list, or of a text between commas. Sets the properties CamelSplitIndex, from 0,
    CamelSplitSize and CamelSplitComplete of each.
    """

    element = "split"

    expression: Annotated[Language, Meta(description="What is split.")]
    delimiter: Annotated[str, Meta(description="What separates the parts of a text; `false` to leave texts whole.")] = (
        ","
    )
    streaming: Annotated[bool, Meta(description="Makes each part when its turn comes; CamelSplitSize comes last.")] = (
        False
    )
    parallel_processing: Annotated[bool, Meta(description="Takes parts through side by side, ten at a time.")] = False
    stop_on_exception: Annotated[bool, Meta(description="Stops at the first part that fails.")] = False
    steps: Annotated[tuple[Step, ...], Meta(description="The steps for each part.")] = ()

    async def process(self, exchange: Exchange, flow: FlowContext) -> None:
        value = await self.expression.evaluate(exchange, flow)
        fan_out = FanOut(flow, self.parallel_processing, self.stop_on_exception, lambda part: None)
        await fan_out.take(self._parts(exchange, value), exchange)

    def _parts(self, exchange: Exchange, value: object) -> Iterator[Part]:
        found = parts_of(value, self.delimiter)
        size = None
        if not self.streaming:
            kept = list(found)
            size, found = len(kept), iter(kept)
        for index, (body, is_last) in enumerate(_with_end(found)):
            part = exchange.copy()
            part.body = body
            part.properties |= {"CamelSplitIndex": index, "CamelSplitComplete": is_last}
            if size is not None or is_last:
                part.properties["CamelSplitSize"] = size if size is not None else index + 1
            yield Part(part, self.steps)


def _with_end(items: Iterator[object]) -> Iterator[tuple[object, bool]]:
    """Each item, and whether it is the last one."""
    nothing = object()
    item = next(items, nothing)
    while item is not nothing:
        following = next(items, nothing)
        yield item, following is nothing
        item = following
