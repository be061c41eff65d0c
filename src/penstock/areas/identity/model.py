"""Users with their API keys, and login sessions."""

from datetime import datetime
from uuid import UUID

from penstock.kernel.actor import Role
from penstock.kernel.entity import Entity
from penstock.kernel.wire import Int32, Wire
from penstock.store.definition import Collection, Column, ColumnType


class LoginModel(Wire):
    """What a person logs in with."""

    user_name: str | None = None
    password: str | None = None


class RefreshTokenModel(Wire):
    """The refresh token of the latest login or refresh."""

    refresh_token: str | None = None


class LoginResult(Wire):
    """Token: a JWT for `Authorization: Bearer`. RefreshToken: buys the next pair, once."""

    token: str | None = None
    refresh_token: str | None = None


class UserCreateDto(Wire):
    """Email: becomes the user name. Roles: separated by commas."""

    email: str | None = None
    roles: str | None = None


class UserDto(Wire):
    """A user. Password: only in the answer that creates the user."""

    username: str | None = None
    password: str | None = None
    roles: list[str] | None = None


class ApiKey(Wire):
    """An API key as it is kept. hash: of the key's secret part; names are unique per user, compared without case."""

    name: str
    description: str | None
    hash: str
    created_date: datetime


class User(Entity):
    """A user as stored; the password's argon2id hash is sealed beside it.

    generation: grows when the password is set anew, which ends every session and access token from before.
    """

    username: str
    roles: list[Role]
    generation: Int32 = 0
    api_keys: list[ApiKey] = []


class Session(Wire):
    """A login and the refresh tokens that follow from it, one at a time (a token family).

    current, previous: hashes of the token that may be used now and of the one it replaced, at `rotated_at`.
    """

    user_id: UUID
    username: str
    generation: Int32
    current: str
    previous: str | None = None
    rotated_at: datetime | None = None


class AuditedApiKey(Wire):
    """An API key in the audit log."""

    name: str
    description: str | None


class AuditedUser(Wire):
    """A user in the audit log."""

    username: str
    roles: list[Role]
    generation: Int32
    api_keys: list[AuditedApiKey]


def audited_user(user: User) -> AuditedUser:
    """The user without hashes."""
    keys = [AuditedApiKey(name=key.name, description=key.description) for key in user.api_keys]
    return AuditedUser(username=user.username, roles=user.roles, generation=user.generation, api_keys=keys)


USERS: Collection[User] = Collection(
    "users",
    User,
    (
        Column("username", lambda user: user.username, ColumnType.KEY, unique=True),
        Column("is_admin", lambda user: Role.ADMIN in user.roles, ColumnType.INTEGER),
    ),
)

SESSIONS: Collection[Session] = Collection("sessions", Session)
