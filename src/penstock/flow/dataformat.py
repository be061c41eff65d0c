"""The base of data formats, which `marshal` and `unmarshal` use."""

from typing import Annotated

from msgspec import Meta

from penstock.flow.element import Element
from penstock.flow.failures.errors import FlowError


class DataFormatFailed(FlowError):
    """A body cannot be read as the format, or written in it."""

    code = "data-format-failed"
    title = "The body does not fit the data format"


class DataFormat(Element, frozen=True):
    """A format; one file in `dataformats/` each."""

    id: Annotated[str, Meta(description="Name of the data format, for people.")] = ""

    def write(self, body: object) -> object:
        """The body in this format. Raises DataFormatFailed."""
        raise NotImplementedError

    def read(self, body: object) -> object:
        """What a body in this format holds. Raises DataFormatFailed."""
        raise NotImplementedError
