"""Users: who may log in, with which roles."""

import asyncio
import re
from collections.abc import Callable, Sequence
from uuid import UUID

import msgspec
import structlog

from penstock.areas.identity.accounts import Accounts
from penstock.areas.identity.model import USERS, User, UserCreateDto, UserDto, audited_user
from penstock.areas.identity.passwords import LONGEST, Passwords
from penstock.kernel.actor import SYSTEM, Actor, Role
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NameTaken, NotFound, Stale
from penstock.kernel.ids import new_id
from penstock.resource.changes import Changes
from penstock.resource.resource import Resource
from penstock.resource.sealed import Renewal, Sealed
from penstock.resource.secrets import Secrets, SecretUnreadable
from penstock.resource.token import new_password
from penstock.store.store import Store, Where
from penstock.store.write import Require, Write

log = structlog.get_logger(__name__)

FIRST_ADMIN = "admin"
SHORTEST_PASSWORD = 8
_TRIES = 20
# As browsers check e-mail addresses, without the slash, which would end the name in a path.
_EMAIL = re.compile(r"[\w.!#$%&'*+=?^`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?(?:\.[a-zA-Z0-9-]+)*", re.ASCII)
_LONGEST_EMAIL = 254


class Users:
    """Creates, lists and deletes users, and changes what is stored of them."""

    def __init__(
        self, store: Store, changes: Changes, clock: Clock, secrets: Secrets, passwords: Passwords, accounts: Accounts
    ) -> None:
        self._store = store
        self._hashes = Sealed(USERS, store, secrets, clock)
        self._passwords = passwords
        self._accounts = accounts
        self._resource = Resource(USERS, store, changes, clock, kind="user", label="username", audited=audited_user)
        self._changing = asyncio.Lock()

    async def list(self) -> Sequence[UserDto]:
        """Every user, newest first, without passwords."""
        return [UserDto(username=user.username, roles=list(user.roles)) for user in await self._resource.decoded()]

    async def named(self, username: str) -> User:
        """Raises NotFound."""
        user = await self._resource.find("username", username)
        if user is None:
            raise NotFound.of("user", username)
        return user

    async def password_hash(self, user: User | None) -> str | None:
        """The user's password hash; None for nobody, after a read all the same. Raises SecretUnreadable."""
        return await self._hashes.open(user.key if user else UUID(int=0))

    async def create(self, wanted: UserCreateDto, actor: Actor) -> UserDto:
        """The new user with its generated password. Raises Invalid, NotFound for an unknown role, NameTaken."""
        errors = [*_email_errors(wanted.email), *_roles_errors(wanted.roles)]
        if errors or wanted.email is None or wanted.roles is None:
            raise Invalid(errors)
        roles = parse_roles(wanted.roles)
        password = new_password()
        user = await self._create(wanted.email, roles, password, actor)
        return UserDto(username=user.username, password=password, roles=list(user.roles))

    async def delete(self, username: str, actor: Actor) -> None:
        """Deletes; sessions, access tokens and API keys end with the user.

        Raises NotFound, and Invalid for an empty name or the last Admin.
        """
        if not username.strip():
            raise Invalid.one("", "a user name is required")
        for _ in range(_TRIES):
            user = await self.named(username)
            try:
                await self._resource.commit(await self._plan_delete(user, actor), user)
            except NotFound:
                continue  # this user or the Admin who would have stayed was deleted meanwhile: look again
            self._accounts.forget()
            return
        raise Stale(f"user '{username}' could not be deleted, because users change all the time")

    async def change(self, username: str, change: Callable[[User], User], actor: Actor) -> User:
        """Stores what `change` makes of the user; it is called again when the user was changed meanwhile.

        Raises NotFound, and what `change` raises.
        """
        user = await self.named(username)
        # Changes in this process wait for each other; between replicas the kit tries again.
        async with self._changing:
            after = await self._resource.change(user.key, change, actor)
        self._accounts.forget()
        return after

    async def set_password(self, user: User, password: str, actor: Actor, *, ends_sessions: bool) -> None:
        """Stores a new hash. Raises Stale, NotFound."""
        after = msgspec.structs.replace(user, generation=user.generation + ends_sessions)
        sealed = self._hashes.seal(user.key, await self._passwords.hash(password))
        stored, writes = self._resource.plan_replace(after, user, actor, sealed=sealed)
        await self._resource.commit(writes, stored)
        self._accounts.forget()

    async def has_admin(self) -> bool:
        """Whether anybody may administer."""
        return bool(await self._admins())

    async def ensure_admin(self, password: str | None, initial: str | None = None) -> str | None:
        """Makes the first Admin when there is none; returns the password when it was generated.

        password: also replaces the present one of `admin`, so that a lost one can be set anew.
        initial: of a new Admin, where no password is given.
        Raises Invalid for a password that is too short or too long, and for another master key than before.
        """
        if password is not None and not SHORTEST_PASSWORD <= len(password) <= LONGEST:
            raise Invalid.one("PENSTOCK_ADMIN_PASSWORD", f"must have {SHORTEST_PASSWORD} to {LONGEST} characters")
        if await self.has_admin():
            await (self._check_master_key() if password is None else self._keep_first_admin(password))
            return None
        chosen = password or initial
        generated = None if chosen else new_password()
        try:
            await self._create(FIRST_ADMIN, [Role.ADMIN], chosen or generated or "", SYSTEM)
        except NameTaken:  # another replica was quicker
            return None
        return generated

    async def renew_seals(self) -> Renewal:
        """Seals password hashes under the current master key."""
        return await self._hashes.renew()

    async def _keep_first_admin(self, password: str) -> None:
        admin = await self._resource.find("username", FIRST_ADMIN)
        if admin is None:
            return
        try:
            hashed = await self.password_hash(admin)
        except SecretUnreadable:
            hashed = None
        if await self._passwords.verify(hashed, password):
            return
        await self.set_password(admin, password, SYSTEM, ends_sessions=True)
        log.warning("password of the first Admin set from the settings", user=FIRST_ADMIN)

    async def _check_master_key(self) -> None:
        """Raises Invalid when no Admin's password can be read: better no start than a server that nobody can enter."""
        for id in await self._admins():
            try:
                await self._hashes.open(id)
            except SecretUnreadable:
                continue
            return
        message = (
            "is not the key that sealed what is stored (the setting, or the file `secret-key` in the data folder): "
            "bring that one back, or set PENSTOCK_ADMIN_PASSWORD to go on without the stored secrets"
        )
        raise Invalid.one("PENSTOCK_SECRET_KEY", message)

    async def _create(self, username: str, roles: Sequence[Role], password: str, actor: Actor) -> User:
        user = User(id=new_id(), username=username, roles=[*roles])
        sealed = self._hashes.seal(user.key, await self._passwords.hash(password))
        return await self._resource.create(user, actor, sealed)

    async def _plan_delete(self, user: User, actor: Actor) -> Sequence[Write]:
        writes = self._resource.plan_delete(user, actor)
        if Role.ADMIN not in user.roles:
            return writes
        others = [id for id in await self._admins() if id != user.key]
        if not others:
            raise Invalid.one("", "the last Admin cannot be deleted")
        # The Admin who stays must still be there when this is committed: of two Admins deleted at once, one stays.
        # Rows are locked in the order of their ids, so that two such commits do not wait for each other.
        staying = Require(USERS, others[0])
        return [staying, *writes] if staying.id < user.key else [*writes, staying]

    async def _admins(self) -> Sequence[UUID]:
        found = await self._store.values(USERS, ["id"], [Where("is_admin", "=", True)])
        return [UUID(str(id)) for (id,) in found]


def parse_roles(text: str) -> Sequence[Role]:
    """Roles separated by commas, compared without case, each once. Raises NotFound for an unknown one."""
    known = {role.lower(): role for role in Role if role is not Role.AGENT}
    roles: dict[Role, None] = {}
    for name in filter(None, map(str.strip, text.split(","))):
        role = known.get(name.lower())
        if role is None:
            raise NotFound.of("role", name)
        roles[role] = None
    return list(roles)


def _email_errors(email: str | None) -> Sequence[FieldError]:
    if not email:
        return [FieldError("Email", "is required")]
    if len(email) > _LONGEST_EMAIL or not _EMAIL.fullmatch(email):
        return [FieldError("Email", "must be an e-mail address like 'name@example.com', without a slash")]
    return []


def _roles_errors(roles: str | None) -> Sequence[FieldError]:
    if not roles or not roles.replace(",", "").strip():
        return [FieldError("Roles", "is required: Reader, Operator or Admin, several separated by commas")]
    return []
