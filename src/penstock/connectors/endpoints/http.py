"""`http`: sends each event in a POST request."""

import base64
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Annotated

from msgspec import Meta

from penstock.connectors.endpoint import Deliver, EndpointKind
from penstock.connectors.failure import DeliveryFailed, EndpointGone, EventRefused
from penstock.connectors.http_binding import binary, structured
from penstock.connectors.kind import Confidential, Secret
from penstock.connectors.standard_webhooks import signed_headers, signing_key
from penstock.connectors.surroundings import Surroundings
from penstock.egress.address_guard import AddressRefused
from penstock.egress.guarded_http import GuardedHttp, HttpAnswer, HttpFailed, http_host
from penstock.kernel.errors import FieldError, Invalid
from penstock.protocol.cloudevent import CloudEvent

_GONE = 410
_LATER = (408, 425, 429)
_LONGEST_WAIT = 86400.0
_ANSWER_BYTES = 1 << 16
_TOLD = 200  # bytes of an answer that become part of the error
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+", re.ASCII)
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OWN = ("content-type", "content-length", "transfer-encoding", "host", "connection", "authorization")


class Mode(StrEnum):
    """How events are written, by the CloudEvents HTTP binding."""

    STRUCTURED = "structured"
    BINARY = "binary"


class HttpEndpoint(EndpointKind, frozen=True):
    """Sends each event as an HTTP POST request, in a form of the CloudEvents HTTP binding.

    An answer of 200 to 299 is success. 410 disables the channel; all others are tried again, after the time that a
    Retry-After header names. Redirects are not followed. `webhook-id` is the same in all tries of an event.
    """

    identifier = "http"

    url: Annotated[Confidential, Meta(description="Address, http or https.")]
    mode: Annotated[Mode, Meta(description="The whole event in JSON, or its attributes as headers.")] = Mode.STRUCTURED
    headers: Annotated[dict[str, Confidential], Meta(description="Further headers.")] = {}
    secret_headers: Annotated[dict[str, Secret], Meta(description="Further headers whose values are secret.")] = {}
    username: Annotated[str | None, Meta(description="User name of basic authentication.")] = None
    password: Annotated[Secret | None, Meta(description="Password of basic authentication.")] = None
    signing_secrets: Annotated[
        list[Secret],
        Meta(
            description="Secrets (`whsec_` and base64) that sign each request by Standard Webhooks. To change one, put "
            "the new one beside the old, and take the old one away once receivers know the new."
        ),
    ] = []
    timeout_seconds: Annotated[float, Meta(ge=0.05, le=600, description="How long one request may take.")] = 30.0

    def check(self) -> None:
        errors = []
        try:
            http_host(self.url)
        except ValueError as error:
            errors.append(FieldError("url", str(error)))
        if self.password is not None and self.username is None:
            errors.append(FieldError("username", "is required beside a password"))
        for field, headers in (("headers", self.headers), ("secretHeaders", self.secret_headers)):
            errors += [
                FieldError(f"{field}.{name}", problem)
                for name, value in headers.items()
                if (problem := _header_problem(name, value))
            ]
        for index, secret in enumerate(self.signing_secrets):
            try:
                signing_key(secret)
            except ValueError as error:
                errors.append(FieldError(f"signingSecrets[{index}]", str(error)))
        if errors:
            raise Invalid(errors)

    def targets(self) -> Mapping[str, str]:
        return {"url": http_host(self.url)}

    @asynccontextmanager
    async def open(self, surroundings: Surroundings) -> AsyncIterator[Deliver]:
        form = structured if self.mode is Mode.STRUCTURED else binary
        always = {**self.headers, **self.secret_headers, **self._credentials()}
        keys = [signing_key(secret) for secret in self.signing_secrets]

        async def deliver(event: CloudEvent) -> None:
            headers, body = form(event)
            headers |= always | signed_headers(event.key, surroundings.clock.now(), body, keys)
            try:
                answer = await client.request(
                    "POST",
                    self.url,
                    headers=headers,
                    body=body,
                    timeout=self.timeout_seconds,
                    most=_ANSWER_BYTES,
                    cut=True,
                )
            except (HttpFailed, AddressRefused) as error:
                raise DeliveryFailed(error.detail) from None
            _judge(answer, surroundings.clock.now())

        async with GuardedHttp(surroundings.guard) as client:
            yield deliver

    def _credentials(self) -> dict[str, str]:
        if self.username is None:
            return {}
        pair = f"{self.username}:{self.password or ''}".encode()
        return {"authorization": f"Basic {base64.b64encode(pair).decode()}"}


def _judge(answer: HttpAnswer, now: datetime) -> None:
    """Raises unless the answer is a success."""
    if 200 <= answer.status < 300:
        return
    if answer.status == _GONE:
        raise EndpointGone("the address answered 410 Gone")
    told = " ".join(answer.body[:_TOLD].decode(errors="replace").split())
    reason = f"the address answered {answer.status}{': ' if told else ''}{told}"
    busy = answer.status in _LATER or answer.status >= 500
    raise (DeliveryFailed if busy else EventRefused)(reason, retry_after(answer.headers, now))


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that a Retry-After header asks to wait, at most a day; None without one that can be read."""
    text = headers.get("retry-after", "").strip()
    if text.isascii() and text.isdigit():
        return min(float(text[:9]), _LONGEST_WAIT)
    try:
        wait = parsedate_to_datetime(text) - now
    except (ValueError, TypeError):  # TypeError: the date has no time zone
        return None
    return min(max(wait.total_seconds(), 0.0), _LONGEST_WAIT)


def _header_problem(name: str, value: str) -> str:
    if not _TOKEN.fullmatch(name) or name.lower() in _OWN or name.lower().startswith(("ce-", "webhook-")):
        return "cannot be set as a header here"
    return "" if _VALUE.fullmatch(value) else "must be printable text of one line"
