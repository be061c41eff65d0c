"""The table as gateways get it: in pieces that a message can carry."""

import hashlib
import zlib
from dataclasses import dataclass
from typing import Self

from penstock.kernel.errors import Invalid
from penstock.kernel.wire import encode
from penstock.protocol.gateway import GatewayTable, TablePart, TableQuestion

PART_BYTES = 512 * 1024
_LEVEL = 3


@dataclass(frozen=True)
class TableParts:
    """stamp: a digest of the body, so that parts of different bodies are never put together."""

    stamp: str
    body: bytes

    @classmethod
    def of(cls, table: GatewayTable) -> Self:
        body = zlib.compress(encode(table), _LEVEL)
        return cls(hashlib.sha256(body).hexdigest(), body)

    @property
    def count(self) -> int:
        return -(-len(self.body) // PART_BYTES)

    def answer(self, question: TableQuestion) -> TablePart:
        """A part beyond the last one is empty: the table may be shorter than it was. Raises Invalid."""
        if question.known == self.stamp:
            return TablePart(stamp=self.stamp, parts=0)
        if question.part < 0:
            raise Invalid.one("Part", "must be 0 or more")
        begin = question.part * PART_BYTES
        return TablePart(stamp=self.stamp, parts=self.count, body=self.body[begin : begin + PART_BYTES])
