"""How an agent comes by its identity: from its folder, or once from the servers for a registration token."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import structlog

from penstock.agent.folder import AgentFolder
from penstock.agent.identity import Identity, load_identity, save_identity
from penstock.agent.link import Link
from penstock.agent.settings import PREFIX, AgentSettings
from penstock.kernel.clock import Clock
from penstock.kernel.errors import Invalid
from penstock.protocol.capability import AgentCapability

FIRST_SERVER = "http://127.0.0.1:8400"
_LOOK_SECONDS = 0.2
_log = structlog.get_logger(__name__)


async def identify(
    folder: AgentFolder, settings: AgentSettings, capabilities: Sequence[AgentCapability], clock: Clock
) -> Identity:
    """The identity in the folder; without one, registers. Raises Refused, DamagedIdentity, and Invalid without token.

    The token is spent, and its file removed, only after the identity is safe on disk.
    """
    identity = load_identity(folder)
    if identity is None:
        identity = await _register(folder, settings, capabilities, clock)
    if settings.token_file:
        await asyncio.to_thread(Path(settings.token_file).unlink, missing_ok=True)
    return identity


async def _register(
    folder: AgentFolder, settings: AgentSettings, capabilities: Sequence[AgentCapability], clock: Clock
) -> Identity:
    token = settings.token or await _token_from(settings.token_file)
    server = settings.server or FIRST_SERVER
    async with Link(server) as link:
        answer = await link.register(settings.name, token, capabilities)
    identity = Identity(
        agent_id=answer.id,
        name=answer.name or settings.name,
        credential=answer.validation_token or "",
        server=server,
        registered=clock.now(),
    )
    save_identity(folder, identity)
    _log.info("registered", agent=str(identity.agent_id), server=server)
    return identity


async def _token_from(path: str) -> str:
    """The token in the file, once it is there. Raises Invalid when no file is named."""
    if not path:
        raise Invalid.one(PREFIX + "TOKEN", "must be set: the agent is not registered yet")
    file = Path(path)
    waiting = False
    while True:
        token = await asyncio.to_thread(lambda: file.read_text().strip() if file.is_file() else "")
        if token:
            return token
        if not waiting:
            _log.info("waiting for the registration token", file=str(file))
        waiting = True
        await asyncio.sleep(_LOOK_SECONDS)
