"""How requests prove who calls."""

from collections.abc import Generator

import httpx
import msgspec

from penstock.client.model import LoginResult
from penstock.client.problem import decoded
from penstock.client.session import Session, SessionFile
from penstock.kernel.errors import Unauthenticated

LOGIN = "/identity/login/username"
REFRESH = "/identity/login/refresh"
_UNAUTHORIZED = 401

Flow = Generator[httpx.Request, httpx.Response, None]


class ApiKey(httpx.Auth):
    """An API key, sent with every request."""

    def __init__(self, key: str) -> None:
        self._key = key

    def auth_flow(self, request: httpx.Request) -> Flow:
        request.headers["X-API-Key"] = self._key
        yield request


class Password(httpx.Auth):
    """Signs in with the first request, and again when the token has ended; nothing is kept on disk."""

    def __init__(self, address: str, username: str, password: str) -> None:
        self._address = address
        self._username = username
        self._password = password
        self._token = ""

    def sync_auth_flow(self, request: httpx.Request) -> Flow:
        if self._token:
            answer = yield _bearing(request, self._token)
            if answer.status_code != _UNAUTHORIZED:
                return
        login = yield login_request(self._address, self._username, self._password)
        self._token = _login_result(login).token
        yield _bearing(request, self._token)


class StoredSession(httpx.Auth):
    """The session that `penstock login` stored. Its token is renewed when the server refuses it."""

    def __init__(self, address: str, file: SessionFile) -> None:
        self._address = address
        self._file = file

    def sync_auth_flow(self, request: httpx.Request) -> Flow:
        session = self._file.get(self._address)
        if session is None:
            raise Unauthenticated(f"nobody is signed in at {self._address}")
        answer = yield _bearing(request, session.token)
        if answer.status_code == _UNAUTHORIZED:
            session = yield from self._renewed(session)
            yield _bearing(request, session.token)

    def _renewed(self, refused: Session) -> Generator[httpx.Request, httpx.Response, Session]:
        with self._file.locked():
            current = self._file.get(self._address)
            if current is None:
                raise Unauthenticated(f"nobody is signed in at {self._address} any more")
            if current.token != refused.token:
                return current  # another process was quicker
            body = msgspec.json.encode({"RefreshToken": current.refresh_token})
            answer = yield _json_request(self._address + REFRESH, body)
            if answer.status_code == _UNAUTHORIZED:
                self._file.remove(self._address)
                raise Unauthenticated(f"the session of {current.username} at {self._address} has ended")
            result = _login_result(answer)
            renewed = Session(current.username, result.token, result.refresh_token)
            self._file.put(self._address, renewed)
            return renewed


def login_request(address: str, username: str, password: str) -> httpx.Request:
    """The request that signs in."""
    body = msgspec.json.encode({"UserName": username, "Password": password})
    return _json_request(address + LOGIN, body)


def _json_request(url: str, body: bytes) -> httpx.Request:
    return httpx.Request("POST", url, content=body, headers={"Content-Type": "application/json"})


def _bearing(request: httpx.Request, token: str) -> httpx.Request:
    request.headers["Authorization"] = f"Bearer {token}"
    return request


def _login_result(answer: httpx.Response) -> LoginResult:
    answer.read()
    return decoded(answer, LoginResult)
