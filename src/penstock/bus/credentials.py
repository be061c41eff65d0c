"""Who may do what on the bus. Every right comes from four keys, made on first use and kept in one file.

Servers and agents live in two accounts. A NATS client may name any reply subject, and the server
publishes acknowledgements there with rights of its own: in one account an agent could have JetStream
write to another agent's subjects, or to the JetStream API. Between accounts the server replaces the
reply subject, so an agent's reach ends at its account (docs/decisions/0004-bus-credentials.md).
"""

import os
import re
import tempfile
from datetime import datetime
from pathlib import Path
from typing import Self
from uuid import UUID

import msgspec

from penstock.bus.claims import Exchange, Permissions, account_jwt, operator_jwt, user_jwt
from penstock.bus.nkeys import NKey, NKeyRole
from penstock.kernel.errors import Invalid, UnusableFile, naming_files

EVERYTHING = Permissions()
_AGENT_SUBJECTS = (Exchange("agent.*.>", "service"), Exchange("gateway.*.>", "service"), Exchange("to.>", "stream"))


class UserCredential(msgspec.Struct, frozen=True):
    """What a connection shows. jwt: may be known; seed: secret, signs the server's nonce."""

    jwt: str
    seed: str

    def __repr__(self) -> str:
        return "UserCredential(...)"

    def file_text(self) -> str:
        """The `.creds` file that NATS clients take; secret."""
        return (
            f"-----BEGIN NATS USER JWT-----\n{self.jwt}\n------END NATS USER JWT------\n\n"
            f"-----BEGIN USER NKEY SEED-----\n{self.seed}\n------END USER NKEY SEED------\n"
        )

    @classmethod
    def of_file_text(cls, text: str) -> Self:
        """From a `.creds` file. Raises Invalid."""
        parts = re.findall(r"^-{3,}BEGIN [^\n]*-{3,}\n(\S+)\n", text, re.MULTILINE)
        if len(parts) != 2:
            raise Invalid.one("", "is no file of credentials for the bus")
        return cls(*parts)


class _Seeds(msgspec.Struct):
    operator: str
    system: str
    platform: str
    agents: str


class BusKeys:
    """The keys of the operator and of three accounts: the system's, the platform's, the agents'."""

    def __init__(self, operator: NKey, system: NKey, platform: NKey, agents: NKey) -> None:
        self._operator = operator
        self._system = system
        self._platform = platform
        self._agents = agents

    @classmethod
    def generate(cls) -> Self:
        accounts = (NKey.generate(NKeyRole.ACCOUNT) for _ in range(3))
        return cls(NKey.generate(NKeyRole.OPERATOR), *accounts)

    @classmethod
    def load_or_create(cls, path: Path) -> Self:
        """Reads `path`, or makes new keys there, readable by the owner only.

        Of two processes that start at once, both end up with the same keys. Raises UnusableFile.
        """
        with naming_files():
            if not path.exists():
                _write_new(path, cls.generate()._seeds())
            content = path.read_bytes()
        try:
            seeds = msgspec.json.decode(content, type=_Seeds)
            return cls(*(NKey.from_seed(seed) for seed in msgspec.structs.astuple(seeds)))
        except (msgspec.DecodeError, ValueError) as error:
            raise UnusableFile(f"{path} does not hold bus keys: {error}") from None

    @property
    def operator_jwt(self) -> str:
        return operator_jwt(self._operator, self._system.public)

    @property
    def system_account(self) -> str:
        """The public key of the account that the servers use among themselves."""
        return self._system.public

    @property
    def accounts(self) -> dict[str, str]:
        """The JWT of each account, by the account's public key."""
        operator, platform = self._operator, self._platform.public
        return {
            self._system.public: account_jwt(operator, self._system.public, "SYSTEM"),
            platform: account_jwt(operator, platform, "PENSTOCK", streams=True, exports=_AGENT_SUBJECTS),
            self._agents.public: account_jwt(
                operator, self._agents.public, "AGENTS", imports=_AGENT_SUBJECTS, exporter=platform
            ),
        }

    def server_user(self, name: str = "server") -> UserCredential:
        """Every right in the platform's account, without end."""
        return _user(self._platform, name, EVERYTHING, None)

    def agent_user(self, agent_id: UUID, expires: datetime) -> UserCredential:
        """The rights of one agent: its own reports and requests, what is sent to it, its own answers."""
        return _user(
            self._agents,
            f"agent {agent_id}",
            Permissions(
                publish=(f"agent.{agent_id}.>",),
                subscribe=(f"to.{agent_id}.>", f"{agent_inbox(agent_id)}.>"),
            ),
            expires,
        )

    def service_user(self, name: str, expires: datetime) -> UserCredential:
        """The rights of a service (NATS micro): it is asked below `service.<name>.` and answers, no more."""
        permissions = Permissions(subscribe=("$SRV.>", f"service.{name}.>"), only_answers=True)
        return _user(self._platform, f"service {name}", permissions, expires)

    def engine_user(self, expires: datetime | None) -> UserCredential:
        """The rights of a worker of the interactive engine: as a service's, with the many answers of long runs."""
        permissions = Permissions(
            subscribe=("$SRV.>", "service.engine.>"), only_answers=True, most_answers=10**6, answer_seconds=86_400
        )
        return _user(self._platform, "service engine", permissions, expires)

    def gateway_user(self, name: str, expires: datetime | None) -> UserCredential:
        """The rights of an API gateway: its own reports and questions, what is sent to gateways. name: without dots."""
        return _user(
            self._agents,
            f"gateway {name}",
            Permissions(publish=(f"gateway.{name}.>",), subscribe=("to.gateways.>", f"{gateway_inbox(name)}.>")),
            expires,
        )

    def _seeds(self) -> _Seeds:
        return _Seeds(self._operator.seed, self._system.seed, self._platform.seed, self._agents.seed)


def agent_inbox(agent_id: UUID) -> str:
    """The inbox prefix that an agent must connect with to get answers."""
    return f"_INBOX.{agent_id}"


def gateway_inbox(name: str) -> str:
    """The inbox prefix that a gateway must connect with to get answers."""
    return f"_INBOX.gateway-{name}"


def _user(account: NKey, name: str, permissions: Permissions, expires: datetime | None) -> UserCredential:
    user = NKey.generate(NKeyRole.USER)
    return UserCredential(user_jwt(account, user.public, name, permissions, expires), user.seed)


def _write_new(path: Path, seeds: _Seeds) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)  # mkstemp makes it 0600
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(msgspec.json.encode(seeds))
            file.flush()
            os.fsync(file.fileno())
        # A link, not a rename: it never replaces the keys of a process that was quicker.
        os.link(name, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(name)
