"""The agent's calls to a server over HTTP: registration, and what it needs to reach the bus."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from types import TracebackType
from typing import Any, Self

import httpx
import msgspec
import structlog

from penstock.kernel.errors import Invalid, PenstockError, Unavailable
from penstock.kernel.validation import decode_json
from penstock.kernel.wire import encode
from penstock.protocol.capability import AgentCapability
from penstock.protocol.registration import AgentConfiguration, AgentRegistrationData, AgentRegistrationDto

_SECONDS = 10.0
_FIRST_PAUSE = 0.25
_LONGEST_PAUSE = 15.0
_TRY_AGAIN = {408, 425, 429}
_NAME_TAKEN = (
    "Set PENSTOCK_AGENT_NAME to another name; or, when that agent was this one and its folder is lost, "
    "deprecate it (POST /agents/ID/deprecate), which frees the name"
)
_log = structlog.get_logger(__name__)


class Refused(PenstockError):
    """The server does not accept the agent's registration token or credential."""

    code = "agent-refused"
    title = "The server refuses the agent"


class Deprecated(Refused):
    """The agent is known and gets no work any more."""

    code = "agent-deprecated"
    title = "The agent is deprecated"


class Link:
    """server: the address of any server. Certificates are verified."""

    def __init__(self, server: str, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._client = httpx.AsyncClient(base_url=server, timeout=_SECONDS, transport=transport, follow_redirects=False)
        self._server = server

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._client.aclose()

    async def register(self, name: str, token: str, capabilities: Sequence[AgentCapability]) -> AgentRegistrationDto:
        """Makes the agent known, trying until a server answers. Raises Refused when the token is not accepted."""
        data = AgentRegistrationData(name=name, token=token, initial_capabities=list(capabilities))
        answer = await self._insist(
            "register",
            lambda: self._client.post(
                "/agent/register", content=encode(data), headers={"Content-Type": "application/json"}
            ),
        )
        registration: AgentRegistrationDto = _read(answer.content, AgentRegistrationDto)
        if not registration.validation_token:
            raise Refused(f"{self._server} gives the agent no credential")
        return registration

    async def configuration(self, credential: str) -> AgentConfiguration:
        """Asks once. Raises Refused when the credential is not accepted, Unavailable when no server answers."""
        answer = await self._once(lambda: self._client.get("/agent/configuration", headers={"X-API-Key": credential}))
        document: str = _read(answer.content, str)
        configuration: AgentConfiguration = _read(document.encode(), AgentConfiguration)
        return configuration

    async def _insist(self, what: str, call: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
        pause = _FIRST_PAUSE
        while True:
            try:
                return await self._once(call)
            except Unavailable as error:
                _log.warning("no answer from the server, trying again", what=what, reason=str(error))
            await asyncio.sleep(random.uniform(pause / 2, pause))  # noqa: S311 - not a secret
            pause = min(pause * 2, _LONGEST_PAUSE)

    async def _once(self, call: Callable[[], Awaitable[httpx.Response]]) -> httpx.Response:
        try:
            answer = await call()
        except httpx.HTTPError as error:
            raise Unavailable(f"{self._server} cannot be reached: {error or type(error).__name__}") from None
        if answer.status_code in _TRY_AGAIN or answer.status_code >= 500:
            raise Unavailable(f"{self._server} answers {answer.status_code}")
        if answer.status_code == httpx.codes.FORBIDDEN:
            raise Deprecated(f"{self._server} has no work for the agent: {_reason(answer)}")
        if answer.status_code == httpx.codes.CONFLICT:
            raise Refused(f"{self._server} refuses the agent: {_reason(answer)}. {_NAME_TAKEN}")
        if answer.status_code != httpx.codes.OK:
            raise Refused(f"{self._server} refuses the agent: {_reason(answer)}")
        return answer


def _read(content: bytes, wanted: Any) -> Any:
    try:
        return decode_json(content, wanted)
    except Invalid as error:  # something else than a server has answered
        raise Unavailable(f"The answer cannot be read: {error}") from None


def _reason(answer: httpx.Response) -> str:
    """What the problem document says, or the status."""
    try:
        problem = msgspec.json.decode(answer.content)
        return f"{answer.status_code} {problem['detail']}"
    except (msgspec.DecodeError, UnicodeDecodeError, KeyError, TypeError):
        return f"status {answer.status_code}"
