"""`webhook`: HTTP requests to an address of the agent itself."""

import asyncio
import hmac
from typing import Annotated, ClassVar

import structlog
from aiohttp import web
from msgspec import Meta

from penstock.connectors.http_body import body_of
from penstock.connectors.kind import Secret
from penstock.connectors.source import Emit, Finding, Findings, Position, SourceFailed, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.connectors.standard_webhooks import ID, signing_key, verify
from penstock.kernel.clock import Clock
from penstock.kernel.errors import FieldError, Invalid, PenstockError, Unauthenticated
from penstock.kernel.ids import new_id

_log = structlog.get_logger(__name__)
_GRACE_SECONDS = 2.0


class WebhookSource(SourceKind, frozen=True):
    """Listens for HTTP requests on the agent's machine and sends an event for each (`penstock.webhook.received`).

    A request is answered 202 once its event is kept, 503 when it cannot be, 401 when the check fails.
    """

    identifier = "webhook"
    on_servers: ClassVar[bool] = False

    host: Annotated[str, Meta(min_length=1, description="Address to listen on; `0.0.0.0` is all of them.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, Meta(ge=1, le=65535, description="Port to listen on.")]
    path: Annotated[str, Meta(pattern="^/", description="Path of the requests; others are answered 404.")] = "/"
    secrets: Annotated[
        list[Secret],
        Meta(
            description="Keys of Standard Webhooks signatures (`whsec_...`), one of which must have signed a request."
        ),
    ] = []
    token: Annotated[Secret | None, Meta(description="Bearer token that requests must carry.")] = None
    open: Annotated[
        bool, Meta(description="Takes requests of anybody; needed when there is neither secret nor token.")
    ] = False
    most_bytes: Annotated[int, Meta(ge=1, le=512 * 1024, description="Larger requests are answered 413.")] = 512 * 1024

    def check(self) -> None:
        super().check()
        errors = []
        for index, secret in enumerate(self.secrets):
            try:
                signing_key(secret)
            except ValueError as error:
                errors.append(FieldError(f"secrets[{index}]", str(error)))
        if not (self.secrets or self.token or self.open):
            errors.append(FieldError("secrets", "is needed, or a token, or `open` for requests of anybody"))
        if errors:
            raise Invalid(errors)

    def origin(self) -> None:
        """It keeps no position."""

    async def listen(self, position: Position, emit: Emit, surroundings: SourceSurroundings) -> None:
        receiver = _Receiver(self, emit, surroundings.clock)
        application = web.Application(client_max_size=self.most_bytes)
        application.router.add_route("*", self.path, receiver.receive)
        runner = web.AppRunner(application, access_log=None, handle_signals=False, shutdown_timeout=_GRACE_SECONDS)
        await runner.setup()
        try:
            await web.TCPSite(runner, self.host, self.port).start()
            await emit(Findings(position=position))
            await asyncio.get_running_loop().create_future()
        except OSError as error:
            raise SourceFailed(f"cannot listen on {self.host} port {self.port}: {error.strerror}") from None
        finally:
            await runner.cleanup()


class _Receiver:
    def __init__(self, source: WebhookSource, emit: Emit, clock: Clock) -> None:
        self._source = source
        self._keys = [signing_key(secret) for secret in source.secrets]
        self._emit = emit
        self._clock = clock

    async def receive(self, request: web.Request) -> web.Response:
        body = await request.read()
        try:
            self._check(request, body)
        except Unauthenticated as error:
            return web.Response(status=401, text=error.detail, headers={"WWW-Authenticate": "Bearer"})
        try:
            await self._emit(Findings(found=[self._finding(request, body)]))
        except PenstockError as error:
            _log.warning("webhook cannot be kept", path=request.path, reason=error.detail)
            return web.Response(status=503, headers={"Retry-After": "5"})
        return web.Response(status=202)

    def _check(self, request: web.Request, body: bytes) -> None:
        token = self._source.token
        if token is not None:
            given = request.headers.get("Authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(given.encode(), token.encode()):
                raise Unauthenticated("the bearer token is not the one that is needed")
        if self._keys:
            headers = {name.lower(): value for name, value in request.headers.items()}
            verify(headers, body, self._keys, self._clock.now())

    def _finding(self, request: web.Request, body: bytes) -> Finding:
        media, data = body_of(request.headers.get("Content-Type", ""), body)
        # A signed request that is sent again has the same id; without a signature anybody could take another's.
        key = request.headers[ID] if self._keys else new_id().hex
        return Finding(key=key, type="penstock.webhook.received", data=data, media_type=media, subject=request.path)
