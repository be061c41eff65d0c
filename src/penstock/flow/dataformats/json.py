"""`json`: texts in JSON."""

import json
from typing import Annotated, Any

from msgspec import Meta

from penstock.flow.dataformat import DataFormat, DataFormatFailed
from penstock.flow.values import text_of


class JsonFormat(DataFormat, frozen=True):
    """Maps, lists, texts, numbers, true, false and null."""

    element = "json"

    library: Annotated[str, Meta(description="Taken as it is: this engine has one library.")] = ""
    pretty_print: Annotated[bool, Meta(description="Writes one entry a line.")] = False

    def write(self, body: object) -> object:
        if self.pretty_print:
            return _dumped(body, indent=2, separators=(",", " : "))
        return _dumped(body, separators=(",", ":"))

    def read(self, body: object) -> object:
        try:
            return json.loads(body if isinstance(body, bytes | bytearray) else text_of(body))
        except (ValueError, RecursionError) as error:
            raise DataFormatFailed(f"the body is not JSON: {error}") from None


def _dumped(body: object, **how: Any) -> str:
    try:
        return json.dumps(body, ensure_ascii=False, default=text_of, **how)
    except (ValueError, RecursionError) as error:
        raise DataFormatFailed(f"the body cannot be written as JSON: {error}") from None
