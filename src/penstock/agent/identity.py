"""Who an agent is: given once by the servers, kept in its folder."""

from datetime import datetime
from uuid import UUID

import msgspec

from penstock.agent.folder import AgentFolder
from penstock.kernel.errors import PenstockError

_FILE = "identity.json"


class DamagedIdentity(PenstockError):
    """The identity file cannot be read; a new agent must be registered in an empty folder."""

    code = "damaged-identity"
    title = "The agent's identity is damaged"


class Identity(msgspec.Struct, frozen=True):
    """credential: what the agent shows to the servers, secret. server: the address that it registered with.

    registered: work that is older than this was never this agent's before.
    """

    agent_id: UUID
    name: str
    credential: str
    server: str
    registered: datetime

    def __repr__(self) -> str:
        return f"Identity({self.agent_id})"


def load_identity(folder: AgentFolder) -> Identity | None:
    """None before the first registration. Raises DamagedIdentity."""
    content = folder.read(_FILE)
    if content is None:
        return None
    try:
        return msgspec.json.decode(content, type=Identity)
    except msgspec.DecodeError as error:
        raise DamagedIdentity(f"{folder.path / _FILE} cannot be read: {error}") from None


def save_identity(folder: AgentFolder, identity: Identity) -> None:
    folder.write(_FILE, msgspec.json.encode(identity))
