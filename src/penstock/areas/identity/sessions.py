"""Logins, and the refresh tokens that follow from them."""

import hmac
from collections.abc import Sequence
from uuid import UUID

import msgspec
import structlog

from penstock.areas.identity.access_tokens import AccessTokens
from penstock.areas.identity.model import SESSIONS, USERS, LoginModel, LoginResult, Session, User
from penstock.areas.identity.passwords import LONGEST, Passwords
from penstock.areas.identity.policy import IdentityPolicy
from penstock.areas.identity.service import Users
from penstock.areas.identity.throttle import LoginThrottle, Origin
from penstock.kernel.actor import Actor
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, NotFound, Stale, Unauthenticated
from penstock.kernel.ids import new_id
from penstock.resource.audit import audit
from penstock.resource.secrets import Purpose, Secrets
from penstock.resource.token import hash_token, new_secret, new_token, token_matches, token_parts
from penstock.store.body import decode
from penstock.store.store import Document, Store
from penstock.store.write import Append, Delete, Insert, Replace

log = structlog.get_logger(__name__)

REFRESH_PREFIX = "rt_"
_SUBJECT = 16  # bytes of the session's id in front of a refresh token's secret
_TRIES = 20
_WRONG = "the user name or the password is wrong"
_INVALID = "the refresh token is not valid, log in again"


class Sessions:
    """Logs in and refreshes.

    The refresh token that follows another is derived from it with a key of the servers. So the same request gets the
    same answer again, on any replica and after a crash, while only hashes of the tokens are stored.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        secrets: Secrets,
        policy: IdentityPolicy,
        users: Users,
        passwords: Passwords,
        tokens: AccessTokens,
        throttle: LoginThrottle,
    ) -> None:
        self._store = store
        self._clock = clock
        self._policy = policy
        self._users = users
        self._passwords = passwords
        self._tokens = tokens
        self._throttle = throttle
        self._key = secrets.subkey(Purpose.REFRESH)
        self._keys = secrets.subkeys(Purpose.REFRESH).values()

    async def login(self, model: LoginModel, address: str) -> LoginResult:
        """Checks a password and begins a session. Raises Invalid, Unauthenticated, TooManyRequests."""
        username, password = _complete(model)
        origin = Origin.of(username, address)
        try:
            with self._throttle.attempt(origin):
                user = await self._check_password(username, password)
        except Unauthenticated:
            log.warning("login failed", address=address)
            await self._throttle.tell(origin)
            raise
        return await self._begin(user)

    async def refresh(self, token: str | None) -> LoginResult:
        """The next pair for a refresh token.

        Its use a second time ends the session, unless it is the last one spent and that was a moment ago.
        Raises Invalid, Unauthenticated.
        """
        if not token:
            raise Invalid.one("RefreshToken", "is required")
        parts = token_parts(REFRESH_PREFIX, token, _SUBJECT)
        if parts is None:
            raise Unauthenticated(_INVALID)
        id, secret = UUID(bytes=parts[0]), parts[1]
        for _ in range(_TRIES):
            document = await self._store.get(SESSIONS, id)
            if document is None:
                raise Unauthenticated(_INVALID)
            session = decode(document.body, SESSIONS.type)
            user = await self._user_of(session)
            try:
                successor = await self._succeed(document, session, secret)
            except Stale:
                continue  # two used the same token at once: the later one gets what the earlier one got
            return self._result(user, id, successor)
        raise Stale("the session changes all the time")

    async def _check_password(self, username: str, password: str) -> User:
        try:
            found = await self._users.named(username)
        except NotFound:
            found = None
        hashed = await self._users.password_hash(found)
        if not await self._passwords.verify(hashed, password) or found is None or hashed is None:
            raise Unauthenticated(_WRONG)
        if self._passwords.outdated(hashed):
            found = await self._hash_anew(found, password)
        return found

    async def _hash_anew(self, user: User, password: str) -> User:
        try:
            await self._users.set_password(user, password, _actor(user), ends_sessions=False)
        except (Stale, NotFound):
            log.info("password hash left as it is, the user was changed meanwhile")
        return user

    async def _begin(self, user: User) -> LoginResult:
        id, secret, now = new_id(), new_secret(), self._clock.now()
        session = Session(
            user_id=user.key, username=user.username, generation=user.generation, current=hash_token(secret)
        )
        insert = Insert(SESSIONS, id, new_id().hex, session, now, expires_at=now + self._policy.refresh_token)
        await self._store.commit([insert, self._audit("logged-in", session)])
        return self._result(user, id, secret)

    async def _user_of(self, session: Session) -> User:
        document = await self._store.get(USERS, session.user_id)
        user = decode(document.body, USERS.type) if document else None
        if user is None or user.generation != session.generation:
            raise Unauthenticated(_INVALID)
        return user

    async def _succeed(self, document: Document, session: Session, secret: bytes) -> bytes:
        """The secret of the next refresh token. Raises Stale when the session was changed meanwhile."""
        if token_matches(secret, session.current):
            return await self._rotate(document, session, secret)
        if self._spent_just_now(session, secret):
            again = [each for each in self._successors(secret) if token_matches(each, session.current)]
            if again:
                return again[0]
        await self._revoke(document, session)
        raise Unauthenticated("the refresh token was used before, so its session was ended; log in again")

    async def _rotate(self, document: Document, session: Session, secret: bytes) -> bytes:
        now = self._clock.now()
        successor = _derive(self._key, secret)
        after = msgspec.structs.replace(
            session, current=hash_token(successor), previous=session.current, rotated_at=now
        )
        expires = now + self._policy.refresh_token
        replace = Replace(SESSIONS, document.id, new_id().hex, after, now, document.e_tag, expires)
        try:
            await self._store.commit([replace])
        except NotFound:
            raise Unauthenticated(_INVALID) from None
        return successor

    def _spent_just_now(self, session: Session, secret: bytes) -> bool:
        if session.previous is None or session.rotated_at is None or not token_matches(secret, session.previous):
            return False
        return self._clock.now() - session.rotated_at <= self._policy.refresh_grace

    def _successors(self, secret: bytes) -> Sequence[bytes]:
        """What may have followed the token, by each master key that is known."""
        return [_derive(key, secret) for key in self._keys]

    async def _revoke(self, document: Document, session: Session) -> None:
        log.warning("refresh token used again, session ended", user=session.username)
        delete = Delete(SESSIONS, document.id, self._clock.now(), document.e_tag)
        try:
            await self._store.commit([delete, self._audit("session-revoked", session)])
        except NotFound:
            raise Unauthenticated(_INVALID) from None

    def _audit(self, act: str, session: Session) -> Append:
        actor = Actor(name=session.username, roles=frozenset())
        now = self._clock.now()
        return audit(act, USERS.name, session.user_id, actor=actor, at=now, subject=session.username)

    def _result(self, user: User, session: UUID, secret: bytes) -> LoginResult:
        token = new_token(REFRESH_PREFIX, session.bytes, secret)
        return LoginResult(token=self._tokens.issue(user), refresh_token=token)


def _complete(model: LoginModel) -> tuple[str, str]:
    errors = []
    if not model.user_name:
        errors.append(FieldError("UserName", "is required"))
    if not model.password:
        errors.append(FieldError("Password", "is required"))
    elif len(model.password) > LONGEST:
        errors.append(FieldError("Password", f"must have at most {LONGEST} characters"))
    if errors or not model.user_name or not model.password:
        raise Invalid(errors)
    return model.user_name, model.password


def _derive(key: bytes, secret: bytes) -> bytes:
    return hmac.digest(key, secret, "sha256")


def _actor(user: User) -> Actor:
    return Actor(name=user.username, roles=frozenset(user.roles))
