"""Which services there are, and requests to them."""

import re
from collections.abc import Sequence

from penstock.areas.services.model import ServiceDto, ServiceEndpointDto, ServiceSendDto
from penstock.bus.bus import Bus
from penstock.bus.services import ServiceInfo, list_services
from penstock.kernel.errors import Invalid, Unavailable
from penstock.protocol.subjects import is_platforms_own

_SUBJECT = re.compile(r"[^\s.*>\0]+(?:\.[^\s.*>\0]+)*")
_LONGEST_SUBJECT = 1024
_ANSWER_SECONDS = 10.0
_REFUSED = "Nats-Service-Error-Code"
_REASON = "Nats-Service-Error"


class ServiceDirectory:
    """Asks the bus who is there.

    Requests go to announced endpoints alone: the servers may publish anywhere, those who call the API may not.
    """

    def __init__(self, bus: Bus) -> None:
        self._bus = bus
        self._announced: frozenset[str] = frozenset()

    async def services(self) -> list[ServiceDto]:
        """The instances that answer now, by name and id."""
        return [_shown(info) for info in await self._ask_all()]

    async def send(self, request: ServiceSendDto) -> None:
        """Sends one request and waits for the answer. Raises Invalid when nobody takes it or the service refuses."""
        endpoint = _checked(request.endpoint)
        if not self._is_announced(endpoint):
            await self._ask_all()
        if not self._is_announced(endpoint):
            raise Invalid.one("Endpoint", "no service has announced it")
        try:
            answer = await self._bus.request(endpoint, request.data or b"", timeout=_ANSWER_SECONDS)
        except Unavailable:
            if not self._bus.connected:
                raise
            raise Invalid.one("Endpoint", "nobody answers") from None
        if _REFUSED in answer.headers:
            raise Invalid.one("Data", f"the service refused: {answer.headers.get(_REASON, '')}")

    async def _ask_all(self) -> Sequence[ServiceInfo]:
        found = await list_services(self._bus)
        self._announced = frozenset(each.subject for info in found for each in info.endpoints or ())
        return found

    def _is_announced(self, endpoint: str) -> bool:
        # Who has gone since does not answer; who has come since is asked for by the caller of this.
        return endpoint in self._announced or any(_takes(each, endpoint) for each in self._announced)


def _checked(endpoint: str | None) -> str:
    if not endpoint:
        raise Invalid.one("Endpoint", "is required")
    if len(endpoint) > _LONGEST_SUBJECT or not _SUBJECT.fullmatch(endpoint):
        raise Invalid.one("Endpoint", f"must be a subject of at most {_LONGEST_SUBJECT} characters, without wildcards")
    if is_platforms_own(endpoint):
        # A service may announce what it likes.
        raise Invalid.one("Endpoint", "must not be a subject of the platform itself")
    return endpoint


def _takes(announced: str, subject: str) -> bool:
    """Whether the announced subject, perhaps with wildcards, takes in the subject."""
    wanted, given = announced.split("."), subject.split(".")
    if wanted[-1] == ">":
        wanted.pop()
        if len(given) <= len(wanted):
            return False
        given = given[: len(wanted)]
    return len(wanted) == len(given) and all(w in ("*", g) for w, g in zip(wanted, given, strict=True))


def _shown(info: ServiceInfo) -> ServiceDto:
    return ServiceDto(
        name=info.name,
        version=info.version,
        description=info.description,
        type=info.type,
        id=info.id,
        metadata=info.metadata or {},
        endpoints=[
            ServiceEndpointDto(
                name=each.name, version=info.version, endpoint=each.subject, metadata=each.metadata or {}
            )
            for each in info.endpoints or ()
        ],
    )
