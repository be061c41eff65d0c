"""`http-poll`: what an HTTP address answers, whenever that changes."""

import hashlib
from collections.abc import Mapping
from typing import Annotated

from msgspec import Meta

from penstock.connectors.http_body import body_of
from penstock.connectors.kind import Secret
from penstock.connectors.source import Finding, Findings, Position, SourceFailed, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.egress.guarded_http import GuardedHttp, HttpAnswer, HttpFailed, http_host
from penstock.kernel.errors import FieldError, Invalid, TooLarge

_OURS = {"if-none-match", "if-modified-since", "host", "content-length", "transfer-encoding", "connection"}
_REMEMBERED = 63


class HttpPollSource(SourceKind, frozen=True):
    """Asks an HTTP address and sends an event when the answer has changed (`penstock.http.changed`).

    It asks with `If-None-Match` and `If-Modified-Since`, so that a server that knows ETags need not send the answer
    again; the answers of others are compared. What is there at the first poll makes no event.
    """

    identifier = "http-poll"
    requires_polling = True
    stateful = True
    shared = True

    url: Annotated[str, Meta(description="Address to ask with GET, `http` or `https`. Redirects are not followed.")]
    headers: Annotated[dict[str, str], Meta(description="Further headers of the request.")] = {}
    authorization: Annotated[Secret | None, Meta(description="Header `Authorization` of the request.")] = None
    timeout_seconds: Annotated[float, Meta(gt=0, le=300, description="How long an answer may take.")] = 30.0
    most_bytes: Annotated[int, Meta(ge=1, le=512 * 1024, description="Larger answers are a failure.")] = 512 * 1024

    def check(self) -> None:
        super().check()
        errors = [
            FieldError(f"headers.{name}", "is set by the source itself")
            for name in self.headers
            if name.lower() in _OURS or (name.lower() == "authorization" and self.authorization is not None)
        ]
        try:
            http_host(self.url)
        except ValueError as error:
            errors.append(FieldError("url", str(error)))
        if errors:
            raise Invalid(errors)

    def targets(self) -> Mapping[str, str]:
        return {"url": http_host(self.url)}

    def origin(self) -> str:
        return self.url

    async def poll(self, position: Position, surroundings: SourceSurroundings) -> Findings:
        async with GuardedHttp(surroundings.guard) as http:
            try:
                answer = await http.request(
                    "GET",
                    self.url,
                    headers=self._headers(position),
                    timeout=self.timeout_seconds,
                    most=self.most_bytes,
                )
            except (HttpFailed, TooLarge) as error:
                raise SourceFailed(error.detail) from None
        if answer.status == 304 and position is not None:
            return Findings(position=position)
        if not 200 <= answer.status < 300:
            raise SourceFailed(f"the address answers {answer.status}", _retry_after(answer))
        digest = hashlib.blake2b(answer.body, digest_size=16).hexdigest()
        changed = position is None or position["digest"] != digest
        before: Mapping[str, int] = position["times"] if position is not None else {}
        times = _counted(before, digest) if changed else before
        after = {
            "digest": digest,
            "e_tag": answer.headers.get("etag"),
            "modified": answer.headers.get("last-modified"),
            "times": times,
        }
        if position is None or not changed:
            return Findings(position=after)
        # An answer that was there before and comes back is another event.
        return Findings(found=[self._finding(answer, f"{digest} {times[digest]}")], position=after)

    def _headers(self, position: Position) -> dict[str, str]:
        headers = {"user-agent": "penstock", "accept": "*/*", **self.headers}
        if self.authorization is not None:
            headers["authorization"] = self.authorization
        if position is not None and position["e_tag"]:
            headers["if-none-match"] = position["e_tag"]
        if position is not None and position["modified"]:
            headers["if-modified-since"] = position["modified"]
        return headers

    def _finding(self, answer: HttpAnswer, key: str) -> Finding:
        media, data = body_of(answer.headers.get("content-type", ""), answer.body)
        return Finding(key=key, type="penstock.http.changed", data=data, media_type=media)


def _counted(times: Mapping[str, int], digest: str) -> dict[str, int]:
    """How often each answer has come, the latest last; old ones are forgotten."""
    others = [(name, count) for name, count in times.items() if name != digest]
    return {**dict(others[-_REMEMBERED:]), digest: times.get(digest, 0) + 1}


def _retry_after(answer: HttpAnswer) -> float | None:
    text = answer.headers.get("retry-after", "").strip()
    return min(float(text), 86_400.0) if text.isascii() and text.isdigit() else None
