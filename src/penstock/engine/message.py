"""What servers ask engine workers, and what these answer.

A worker answers with frames, each as one or more pieces, since a message on the bus has an upper size.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from penstock.engine.output import Output
from penstock.kernel.errors import Unavailable

SERVICE = "engine"
SUBJECT = f"service.{SERVICE}"
QUEUE = SERVICE
NOBODY_THERE: Mapping[str, str] = {"Status": "503"}
"""What the bus answers when nobody listens, and a worker that is ending."""
_PIECE = 256 * 1024
_HEADER = 5  # bytes: a counter, and whether more of the frame follows


class RunRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Run a document.

    id: of the run, unguessable. document: its text; file_name tells its format, kernel the language of what has no
    mark. parameters: values by name. notebook: whose kernels are used and kept; None for kernels of its own.
    fresh: the notebook's kernels are started anew. seconds: a shorter time limit than the worker's. party: whose runs
    count together, so that others get their turn; None for nobody's.
    """

    id: str
    document: str
    file_name: str | None = None
    kernel: str | None = None
    parameters: Mapping[str, Any] = {}
    notebook: str | None = None
    fresh: bool = False
    seconds: float | None = None
    party: str | None = None


class CompleteRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Completions at a position, counted in code points."""

    notebook: str
    code: str
    position: int


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """type: what Jedi calls it, such as `function`."""

    text: str
    type: str
    documentation: str | None = None


class About(msgspec.Struct, frozen=True, kw_only=True):
    """A worker. ready: kernels that wait. statements: how code is kept apart there."""

    worker: str
    host: str
    running: int
    waiting: int
    ready: int
    notebooks: int
    kernels: Sequence[str]
    statements: Sequence[str]


class Started(msgspec.Struct, frozen=True, tag="started"):
    """The worker has taken the run."""

    worker: str


class Alive(msgspec.Struct, frozen=True, tag="alive"):
    """The run goes on, or waits for its turn."""


class Produced(msgspec.Struct, frozen=True, tag="produced"):
    """A piece of output."""

    output: Output


class Made(msgspec.Struct, frozen=True, tag="made"):
    """A file that the run made. content: None when it is too large to be kept."""

    name: str
    media_type: str
    size: int
    content: bytes | None


class Finished(msgspec.Struct, frozen=True, tag="finished"):
    """The end. error: why it failed, in one line; None when it did not."""

    seconds: float
    error: str | None = None


Frame = Started | Alive | Produced | Made | Finished
_decoder = msgspec.msgpack.Decoder(Frame)


class FrameWriter:
    """Cuts frames into pieces."""

    def __init__(self) -> None:
        self._count = 0

    def pieces(self, frame: Frame) -> Iterator[bytes]:
        body = msgspec.msgpack.encode(frame)
        for start in range(0, len(body), _PIECE):
            more = start + _PIECE < len(body)
            yield self._count.to_bytes(_HEADER - 1) + bytes([more]) + body[start : start + _PIECE]
            self._count += 1


class FrameReader:
    """Puts frames together again."""

    def __init__(self) -> None:
        self._count = 0
        self._parts: list[bytes] = []

    def read(self, piece: bytes) -> Frame | None:
        """The frame that the piece completes. Raises Unavailable when a piece was lost on the way."""
        if int.from_bytes(piece[: _HEADER - 1]) != self._count:
            raise Unavailable("a part of the engine's answer was lost on the bus; what ran may have ended well")
        self._count += 1
        self._parts.append(piece[_HEADER:])
        if piece[_HEADER - 1]:
            return None
        body, self._parts = b"".join(self._parts), []
        frame: Frame = _decoder.decode(body)
        return frame
