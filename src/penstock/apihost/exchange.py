"""One request on its way to the process of an API, and the answer on its way back, piece by piece."""

import asyncio
from typing import Protocol

from penstock.apihost.head import Headers, RequestHead, answer_lines
from penstock.apihost.refusal import Refusal
from penstock.apihost.upstream import Upstream

_WITHOUT_BODY = frozenset({204, 304})


class Caller(Protocol):
    """Whoever made the request."""

    @property
    def keeps_alive(self) -> bool:
        """Whether its connection may be used again."""
        ...

    def write(self, data: bytes) -> None: ...

    def hold(self) -> None:
        """No more of the body for now."""
        ...

    def go_on(self) -> None: ...

    def refuse(self, refusal: Refusal) -> None:
        """Instead of an answer."""
        ...

    def switched(self) -> None:
        """The connection is a WebSocket's: all that comes is the exchange's."""
        ...

    def answered(self, *, keeps_alive: bool) -> None:
        """The answer is whole."""
        ...

    def cut(self) -> None:
        """The answer broke off and must not look whole."""
        ...


class Exchange:
    """A Receiver. request: its head, as the process gets it. patience: seconds until the answer begins.

    most: bytes of the body.
    """

    def __init__(self, caller: Caller, head: RequestHead, request: bytes, patience: float, most: int) -> None:
        self.sent = False
        self._caller = caller
        self._head = head
        self._pending = [request]
        self._patience = patience
        self._left = most
        self._most = most
        self._chunked_body = bool(head.coding)
        self._upstream: Upstream | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._out: list[bytes] = []
        self._chunked_answer = self._begun = self._raw = self._over = False
        self._keeps_alive = False

    # What the caller sends.

    def body(self, data: bytes) -> None:
        if self._over:
            return
        if not self._raw:
            self._left -= len(data)
            if self._left < 0:
                self.refuse(Refusal(413, f"the body has more than {self._most} bytes"))
                return
            if self._chunked_body:
                data = b"%x\r\n%b\r\n" % (len(data), data)
        if self._upstream is not None:
            self._upstream.write(data)
        else:
            self._pending.append(data)
            self._caller.hold()

    def body_end(self) -> None:
        """The request is whole; from now on the answer is waited for."""
        self.sent = True
        if self._over:
            return
        if self._chunked_body:
            self._write(b"0\r\n\r\n")
        if not self._begun:
            self._timer = asyncio.get_running_loop().call_later(self._patience, self._too_slow)

    def left(self) -> None:
        """The caller has gone."""
        self._finish()
        if self._upstream is not None:
            self._upstream.leave()

    def refuse(self, refusal: Refusal) -> None:
        """Gives the exchange up. The caller is told why, unless the answer has begun."""
        self.left()
        if self._begun:
            self._caller.cut()
        else:
            self._caller.refuse(refusal)

    def slow_down(self) -> None:
        """The caller takes the answer more slowly than it comes."""
        if self._upstream is not None and not self._over:
            self._upstream.pause()

    def speed_up(self) -> None:
        if self._upstream is not None and not self._over:
            self._upstream.resume()

    # What the process answers.

    def attached(self, upstream: Upstream) -> None:
        self._upstream = upstream
        if self._over:
            upstream.leave()
            return
        upstream.begin(self, b"".join(self._pending), bodiless=self._head.method == b"HEAD")
        if len(self._pending) > 1:
            self._caller.go_on()
        self._pending = []

    def head(self, status: int, reason: bytes, headers: Headers) -> None:
        if status == 101 and not self._head.opens_websocket:
            # What else comes over the caller's connection may be for others, and of others.
            self.refuse(Refusal(502, "The API changed the protocol unasked"))
            return
        self._begun = True
        self._end_wait()
        lines, names = answer_lines(headers)
        self._out.append(b"HTTP/1.1 %d %b\r\n" % (status, reason))
        self._out += lines
        if b"server" not in names:
            self._out.append(b"server: penstock\r\n")
        if status == 101:
            self._switch()
        else:
            self._frame(status, framed=b"content-length" in names)
        self._out.append(b"\r\n")

    def piece(self, data: bytes) -> None:
        if self._chunked_answer:
            self._out += (b"%x\r\n" % len(data), data, b"\r\n")
        else:
            self._out.append(data)

    def flush(self) -> None:
        if self._out and not self._over:
            self._caller.write(b"".join(self._out))
        self._out.clear()

    def end(self) -> None:
        if self._over:
            return
        if self._chunked_answer:
            self._out.append(b"0\r\n\r\n")
        self._finish()  # before the caller can ask to slow down: the connection is another's already
        self._caller.write(b"".join(self._out))
        self._caller.answered(keeps_alive=self._keeps_alive)

    def broken(self, reason: str) -> None:
        if self._over:
            return
        self._finish()
        if self._raw:
            self._caller.answered(keeps_alive=False)
        elif self._begun:
            self._caller.cut()
        else:
            self._caller.refuse(Refusal(502, reason))

    def hold(self) -> None:
        self._caller.hold()

    def go_on(self) -> None:
        self._caller.go_on()

    def _switch(self) -> None:
        """From here on both sides say to each other what they like."""
        self._raw = True
        self._chunked_body = False
        self._out.append(b"connection: Upgrade\r\nupgrade: websocket\r\n")
        self._caller.switched()

    def _frame(self, status: int, *, framed: bool) -> None:
        """How the caller sees the end of the body, and whether it may ask again."""
        self._keeps_alive = self._caller.keeps_alive
        if not framed and status not in _WITHOUT_BODY and self._head.method != b"HEAD":
            if self._head.version == "1.1":
                self._chunked_answer = True
                self._out.append(b"transfer-encoding: chunked\r\n")
            else:
                self._keeps_alive = False
        if not self._keeps_alive:
            self._out.append(b"connection: close\r\n")

    def _write(self, data: bytes) -> None:
        if self._upstream is not None:
            self._upstream.write(data)
        else:
            self._pending.append(data)

    def _too_slow(self) -> None:
        self.refuse(Refusal(504, "The API did not begin to answer in time"))

    def _finish(self) -> None:
        self._over = True
        self._end_wait()

    def _end_wait(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
