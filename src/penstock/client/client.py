"""The HTTP API as Python calls.

with Client.connect(Target.of()) as client:
    client.apply(text)
"""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import quote

import httpx
import msgspec

from penstock.client.credential import login_request
from penstock.client.event_source import events_of
from penstock.client.model import (
    DeadLetterCount,
    DeliveryState,
    Invitation,
    LoginResult,
    LogMessage,
    PlannedChange,
    PublishedEvents,
    ReindexProgress,
    ReplayResult,
    StreamMessage,
)
from penstock.client.problem import Unreachable, decoded, error_of
from penstock.client.session import Session
from penstock.client.target import Target
from penstock.kernel.errors import PenstockError, Unavailable

T = TypeVar("T")
Query = Mapping[str, Any]

JSON = "application/json"
YAML = "application/yaml"
_TIMEOUT = httpx.Timeout(60.0, connect=5.0)
_LONG_WORK = httpx.Timeout(60.0, connect=5.0, read=600.0)  # ten thousand documents take a while
_SILENCE = httpx.Timeout(60.0, connect=5.0, read=45.0)  # an event stream sends a sign of life every 15 s
_FIRST_PAUSE, _LONGEST_PAUSE = 0.2, 5.0
# A proxy of the environment does not reach servers on this machine.
_PAST_PROXIES: dict[str, None] = dict.fromkeys(("all://localhost", "all://127.0.0.1", "all://[::1]"))


class Client:
    """Calls raise the error that the server told (see `penstock.kernel.errors`), or Unreachable."""

    def __init__(self, http: httpx.Client) -> None:
        """http: a client with the server's address as base URL and, for most calls, a credential."""
        self._http = http

    @classmethod
    def connect(cls, target: Target) -> Self:
        """A client for the target; nothing is sent yet. Certificates are verified."""
        return cls(
            httpx.Client(base_url=target.address, auth=target.credential(), timeout=_TIMEOUT, mounts=_PAST_PROXIES)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    @property
    def address(self) -> str:
        return str(self._http.base_url).rstrip("/")

    def login(self, username: str, password: str) -> Session:
        """Signs in; the session is not stored."""
        with self._reaching():
            answer = self._http.send(login_request(self.address, username, password), auth=None)
        result = decoded(answer, LoginResult)
        return Session(username, result.token, result.refresh_token)

    def apply(self, text: str) -> None:
        """Applies configuration documents, all or none."""
        self._send("PUT", "/configuration", text)

    def plan(self, text: str) -> list[PlannedChange]:
        """What applying the documents would do."""
        return decoded(self._send("POST", "/configuration/plan", text), list[PlannedChange])

    def invite(self, pool: str) -> Invitation:
        """Lets one more agent register, into the pool."""
        with self._reaching():
            answer = self._http.post("/agents/create", json=pool)
        return decoded(answer, Invitation)

    def rehandle(self, webhook: str, message: str) -> None:
        """Publishes a request that a webhook received again."""
        path = f"/api/webhooks/{quote(webhook, safe='')}/rehandle/{quote(message, safe='')}"
        with self._reaching():
            answer = self._http.post(path)
        if answer.is_error:
            raise error_of(answer)

    def publish(self, body: bytes) -> list[str]:
        """Publishes a CloudEvent, an array of them, or data, in JSON; gives their ids once they are stored."""
        with self._reaching():
            answer = self._http.post("/api/EventHub/Publish", content=body, headers={"Content-Type": JSON})
        return decoded(answer, PublishedEvents).ids

    def replay_dead_letters(self, channel: str, sequences: range) -> int:
        """Has dead letters of a channel delivered again; gives how many there were among the sequences."""
        return self._dead_letters("POST", f"{_dead_letter_path(channel)}/replay", sequences)

    def discard_dead_letters(self, channel: str, sequences: range) -> int:
        """Removes dead letters of a channel; gives how many there were among the sequences."""
        return self._dead_letters("DELETE", _dead_letter_path(channel), sequences)

    def enable_channel(self, channel: str) -> int:
        """Has a disabled channel delivered again; gives how many of its events wait or are being tried."""
        with self._reaching():
            answer = self._http.post(f"/eventing/deliveries/{quote(channel, safe='')}/enable")
        state = decoded(answer, DeliveryState)
        return state.waiting + state.in_hand

    def replay_history(
        self,
        channel: str,
        since: datetime,
        until: datetime,
        *,
        event_type: str | None = None,
        source: str | None = None,
        every: bool = False,
    ) -> int:
        """Has events that were accepted from `since` to `until` delivered again to a channel; gives how many.

        every: also those that did not go to the channel then.
        """
        wanted = {
            "Channel": channel,
            "FromDate": since.isoformat(),
            "ToDate": until.isoformat(),
            "EventType": event_type,
            "Source": source,
            "All": every,
        }
        replayed, after, complete = 0, None, False
        while not complete:  # the server looks through some thousands at a time
            with self._reaching():
                answer = self._http.post(
                    "/eventing/replays", json={**wanted, "AfterSequence": after}, timeout=_LONG_WORK
                )
            found = decoded(answer, ReplayResult)
            replayed, after, complete = replayed + found.replayed, found.last_sequence, found.complete
        return replayed

    def call(self, method: str, path: str, wanted: type[T], query: Query | None = None) -> T:
        """What an operation without body answers."""
        with self._reaching():
            answer = self._http.request(method, path, params=query)
        return decoded(answer, wanted)

    def send(self, method: str, path: str, query: Query | None = None, body: Any = None) -> bytes:
        """Calls an operation with `body` as JSON; answers what it answers, which may be nothing."""
        with self._reaching():
            answer = self._http.request(method, path, params=query, json=body, timeout=_LONG_WORK)
        if answer.is_error:
            raise error_of(answer)
        return answer.content

    def read(self, path: str, query: Query | None = None) -> Any:
        """The JSON that GET answers, decoded."""
        return decoded(self._get(path, query), Any)

    def logs(self, flow: str, count: int) -> list[LogMessage]:
        """The newest lines of a flow, oldest of them first."""
        path = f"/integrations/flows/{quote(flow, safe='')}/logs"
        lines = decoded(self._get(path, {"count": count}), list[LogMessage])
        return sorted(lines, key=lambda line: (line.time_stamp, line.id))

    def messages(self, stream: str, count: int) -> list[StreamMessage]:
        """The newest messages of a stream, oldest of them first."""
        answer = self._get(f"{_stream_path(stream)}/messages", {"Count": count})
        return sorted(decoded(answer, list[StreamMessage]), key=lambda message: message.sequence)

    def follow(
        self, stream: str, after: int | None = None, on_gap: Callable[[PenstockError], None] = lambda _: None
    ) -> Iterator[StreamMessage]:
        """Messages as they come, without end; a lost connection is made again and nothing is left out.

        after: begins behind this sequence; None begins with the next new message.
        on_gap: told when the connection was lost.
        """
        pause = _FIRST_PAUSE
        while True:
            try:
                for message in self._follow(stream, after):
                    after, pause = message.sequence, _FIRST_PAUSE
                    yield message
            except (Unreachable, Unavailable) as error:
                on_gap(error)
            time.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def reindex(self) -> Iterator[ReindexProgress]:
        """Makes the history of events anew; the last progress is the finished one.

        Raises Unavailable when it was cut short.
        """
        finished = False
        for event in self.events("POST", "/eventing/events/reindex"):
            progress = msgspec.json.decode(event, type=ReindexProgress)
            finished = progress.finished
            yield progress
        if not finished:
            raise Unavailable("The server ended the reindex before it was finished; its log says why")

    def _dead_letters(self, method: str, path: str, sequences: range) -> int:
        """The server deals with some thousands at a time, beginning with the oldest."""
        done, complete = 0, False
        query = {"FirstSequence": sequences.start, "LastSequence": sequences.stop - 1}
        while not complete:
            with self._reaching():
                answer = self._http.request(method, path, params=query, timeout=_LONG_WORK)
            counted = decoded(answer, DeadLetterCount)
            done, complete = done + counted.count, counted.complete
        return done

    def _follow(self, stream: str, after: int | None) -> Iterator[StreamMessage]:
        headers = {"Last-Event-ID": str(after)} if after is not None else {}
        for event in self.events("GET", f"{_stream_path(stream)}/follow", headers):
            yield msgspec.json.decode(event, type=StreamMessage)

    def events(self, method: str, path: str, headers: Mapping[str, str] | None = None) -> Iterator[str]:
        """The data of the server-sent events that the operation answers."""
        accepting = {"Accept": "text/event-stream", **(headers or {})}
        with self._reaching(), self._http.stream(method, path, headers=accepting, timeout=_SILENCE) as answer:
            if answer.is_error:
                answer.read()
                raise error_of(answer)
            yield from events_of(answer.iter_lines())

    def _get(self, path: str, query: Query | None) -> httpx.Response:
        with self._reaching():
            return self._http.get(path, params=query)

    def _send(self, method: str, path: str, text: str) -> httpx.Response:
        with self._reaching():
            answer = self._http.request(
                method, path, content=text.encode(), headers={"Content-Type": YAML}, timeout=_LONG_WORK
            )
        if answer.is_error:
            raise error_of(answer)
        return answer

    @contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except httpx.TransportError as error:
            raise Unreachable(self.address, str(error)) from None


def _dead_letter_path(channel: str) -> str:
    return f"/eventing/deadletters/{quote(channel, safe='')}"


def _stream_path(stream: str) -> str:
    return f"/eventing/streams/{quote(stream, safe='')}"
