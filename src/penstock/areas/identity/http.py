"""Operations of the section "Identity"."""

from penstock.areas.identity.api_keys import ApiKeys
from penstock.areas.identity.model import LoginModel, LoginResult, RefreshTokenModel, UserCreateDto, UserDto
from penstock.areas.identity.service import Users
from penstock.areas.identity.sessions import Sessions
from penstock.kernel.actor import Actor, Role
from penstock.resource.answer import File
from penstock.resource.call import Call
from penstock.resource.operation import operation
from penstock.resource.parameter import Body

LARGEST = 16 * 1024  # bytes that may be sent without credentials


class IdentityHandlers:
    """Login, users, API keys."""

    def __init__(self, sessions: Sessions, users: Users, keys: ApiKeys) -> None:
        self._sessions = sessions
        self._users = users
        self._keys = keys

    @operation("POST", "/identity/login/username", limit=LARGEST)
    async def login(self, model: Body[LoginModel], call: Call) -> LoginResult:
        """Log in with user name and password.

        Answers an access token for the header `Authorization: Bearer <Token>`, good for 15 minutes, and a refresh
        token, good for 14 days and one use. Wrong names and wrong passwords are the same 401. After some failures from
        one address every further login has to wait, ever longer: 429 with `Retry-After` in seconds.
        """
        return await self._sessions.login(model, call.client)

    @operation("POST", "/identity/login/refresh", limit=LARGEST)
    async def refresh(self, model: Body[RefreshTokenModel]) -> LoginResult:
        """Exchange a refresh token for the next pair of tokens.

        Each refresh token works once. Repeating the request within 30 seconds, should the answer have been lost, gives
        the same refresh token again; any other second use ends the session: 401.
        """
        return await self._sessions.refresh(model.refresh_token)

    @operation("GET", "/identity/user", Role.ADMIN)
    async def list_users(self) -> list[UserDto]:
        """List the users, newest first. Password is always null."""
        return list(await self._users.list())

    @operation("POST", "/identity/user", Role.ADMIN, bodiless=frozenset({404, 409}))
    async def create_user(self, wanted: Body[UserCreateDto], actor: Actor) -> UserDto:
        """Create a user with a generated password, shown in this answer only.

        The e-mail address is the user name, compared without case. Roles are Reader, Operator and Admin, separated by
        commas. 404 when a role is unknown, 409 when the name is taken; neither has a body.
        """
        return await self._users.create(wanted, actor)

    @operation("DELETE", "/identity/user", Role.ADMIN, bodiless=frozenset({400, 404}))
    async def delete_user(self, username: Body[str], actor: Actor) -> None:
        """Delete a user; the body is the user name as a JSON string.

        Sessions, access tokens and API keys of the user end at once, within a second on other replicas. 400 for an
        empty name or the last Admin, 404 when there is no such user; neither has a body.
        """
        await self._users.delete(username, actor)

    @operation("GET", "/identity/apikey/{username}", Role.ADMIN)
    async def list_api_keys(self, username: str) -> list[str]:
        """List the names of a user's API keys, oldest first."""
        return list(await self._keys.names(username))

    @operation("POST", "/identity/apikey", Role.ADMIN)
    async def create_api_key(
        self, username: str, actor: Actor, name: str | None = None, description: str | None = None
    ) -> str:
        """Create an API key, shown in this answer only.

        It goes into the header `X-API-Key` and may do what its user may. Without a name it is called `default`; names
        are unique per user, compared without case: 409.
        """
        return await self._keys.create(username, name, description, actor)

    @operation("DELETE", "/{username}/{keyname}", Role.ADMIN)
    async def delete_api_key(self, username: str, keyname: str, actor: Actor) -> File:
        """Delete an API key of a user. It stops working at once, within a second on other replicas."""
        await self._keys.delete(username, keyname, actor)
        return File()
