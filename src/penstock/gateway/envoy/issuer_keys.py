"""Public keys of token issuers: fetched, fetched again, and the last good ones kept over restarts."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import jwt
import msgspec
import structlog

from penstock.egress.address_guard import AddressGuard
from penstock.egress.guarded_http import GuardedHttp
from penstock.gateway.envoy.oidc import IssuerKeys, keys_of
from penstock.kernel.errors import PenstockError
from penstock.kernel.private_file import write_private
from penstock.protocol.gateway import GatewayOidc, GatewaySubscription

_DISCOVERY = "/.well-known/openid-configuration"
_EVERY_SECONDS = 300.0
_AGAIN_SECONDS = 10.0
_PATIENCE_SECONDS = 10.0
_OK = 200
_PUBLIC_KEYS = frozenset({"RSA", "EC", "OKP"})
_log = structlog.get_logger(__name__)


class KeysUnusable(PenstockError):
    """What an issuer answers holds no keys."""

    code = "issuer-keys-unusable"
    title = "The issuer's keys cannot be used"


class _Discovery(msgspec.Struct):
    issuer: str
    jwks_uri: str


class _Followed:
    """An issuer whose keys are kept. tried: set when it was asked last. again: set to ask it now."""

    def __init__(self, oidc: GatewayOidc) -> None:
        self.oidc = oidc
        self.keys: str | None = None
        self.problem: str | None = None
        self.tried = asyncio.Event()
        self.again = asyncio.Event()


class IssuerKeyBook:
    """The keys of the issuers that a table names; used as a context manager.

    changed: called when the keys of an issuer are others than before.
    """

    def __init__(self, folder: Path, allow_private: bool, changed: Callable[[], Awaitable[None]]) -> None:
        self._folder = folder / "issuers"
        self._http = GuardedHttp(AddressGuard(allow_private=allow_private))
        self._changed = changed
        self._issuers: dict[str, _Followed] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group = asyncio.TaskGroup()

    async def __aenter__(self) -> Self:
        await asyncio.to_thread(self._folder.mkdir, mode=0o700, exist_ok=True)
        await self._http.__aenter__()
        await self._group.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks.values():
            task.cancel()
        await self._group.__aexit__(None, None, None)
        await self._http.__aexit__(None, None, None)

    @property
    def known(self) -> IssuerKeys:
        return {name: each.keys for name, each in self._issuers.items() if each.keys is not None}

    @property
    def problem(self) -> str | None:
        """Of the first issuer whose keys are not to be had."""
        return next((each.problem for each in self._issuers.values() if each.problem), None)

    def want(self, subscriptions: Iterable[GatewaySubscription]) -> None:
        """From now on keeps the keys of these subscriptions' issuers, and of no others."""
        wanted = {keys_of(each.oidc): each.oidc for each in subscriptions if each.oidc is not None}
        for name in self._issuers.keys() - wanted.keys():
            del self._issuers[name]
            self._tasks.pop(name).cancel()
        for name in wanted.keys() - self._issuers.keys():
            issuer = self._issuers[name] = _Followed(wanted[name])
            issuer.keys = self._read(name)
            self._tasks[name] = self._group.create_task(self._keep(name, issuer), name=f"keys of {name}")

    async def tried(self) -> None:
        """Returns once every issuer has been asked, and what it said is in force."""
        await asyncio.gather(*(each.tried.wait() for each in self._issuers.values()))

    async def fetch(self) -> None:
        """Asks every issuer now, and returns as `tried` does."""
        for each in self._issuers.values():
            each.tried.clear()
            each.again.set()
        await self.tried()

    async def _keep(self, name: str, issuer: _Followed) -> None:
        while True:
            pause = _EVERY_SECONDS
            try:
                await self._renew(name, issuer, await self._fetched(issuer.oidc))
                issuer.problem = None
            except PenstockError as error:
                issuer.problem = f"the keys of {issuer.oidc.issuer} cannot be fetched: {error.detail}"
                _log.warning("keys of an issuer cannot be fetched", issuer=issuer.oidc.issuer, reason=error.detail)
                pause = _AGAIN_SECONDS
            issuer.tried.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await issuer.again.wait()
            issuer.again.clear()

    async def _renew(self, name: str, issuer: _Followed, keys: str) -> None:
        if issuer.keys != keys:
            issuer.keys = keys
            await asyncio.to_thread(write_private, self._file(name), keys)
            await self._changed()

    async def _fetched(self, oidc: GatewayOidc) -> str:
        """Raises PenstockError."""
        uri = oidc.jwks_uri
        if uri is None:
            found = await self._get(oidc.issuer.rstrip("/") + _DISCOVERY, _Discovery)
            if found.issuer.rstrip("/") != oidc.issuer.rstrip("/"):
                raise KeysUnusable(f"its discovery document is of {found.issuer}")
            uri = found.jwks_uri
        document = await self._get(uri, dict[str, Any])
        return usable_keys(document)

    async def _get(self, url: str, wanted: Any) -> Any:
        answer = await self._http.request("GET", url, timeout=_PATIENCE_SECONDS)
        if answer.status != _OK:
            raise KeysUnusable(f"it answers {answer.status}")
        try:
            return msgspec.json.decode(answer.body, type=wanted)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise KeysUnusable("its answer is not the document that it should be") from None

    def _read(self, name: str) -> str | None:
        try:
            return usable_keys(msgspec.json.decode(self._file(name).read_bytes()))
        except (OSError, msgspec.DecodeError, KeysUnusable):
            return None

    def _file(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.json"


def usable_keys(document: Mapping[str, Any]) -> str:
    """The public keys of a JWKS document that can be checked with, as one. Raises KeysUnusable when there are none."""
    keys = document.get("keys")
    usable = [key for key in keys if _is_usable(key)] if isinstance(keys, list) else []
    if not usable:
        raise KeysUnusable("there are no public keys in its answer")
    return msgspec.json.encode({"keys": usable}, order="deterministic").decode()


def _is_usable(key: Any) -> bool:
    """Secrets, and what is no key, would have Envoy refuse all of them, or believe what anybody may sign."""
    if not isinstance(key, dict) or key.get("kty") not in _PUBLIC_KEYS or key.get("use", "sig") != "sig":
        return False
    try:
        jwt.PyJWK(key)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError):
        return False
    return True
