"""The checks that tell who may send to a webhook."""

import base64
import hmac
from collections.abc import Sequence
from datetime import datetime

from penstock.areas.webhooks.model import AuthenticationType, Encoding, WebhookAuthentication
from penstock.areas.webhooks.request import WebhookRequest
from penstock.connectors.standard_webhooks import signing_key, verify
from penstock.kernel.errors import Unauthenticated


def check(
    authentication: WebhookAuthentication, secrets: Sequence[str], request: WebhookRequest, now: datetime
) -> None:
    """Raises Unauthenticated when none of the secrets holds, ValueError for secrets that cannot be used."""
    match authentication.type:
        case AuthenticationType.OPEN:
            return
        case AuthenticationType.STANDARD:
            verify(request.headers, request.body, [signing_key(secret) for secret in secrets], now)
        case AuthenticationType.SECRET:
            _check_secret(authentication, secrets, request)
        case AuthenticationType.HMAC:
            _check_hmac(authentication, secrets, request)


def _check_secret(authentication: WebhookAuthentication, secrets: Sequence[str], request: WebhookRequest) -> None:
    if authentication.query is not None:
        place, given = f"the query parameter {authentication.query}", request.parameter(authentication.query)
    else:
        place, given = _header(authentication, request)
    # Comparing in bytes: text that is not ASCII would raise.
    if not any(hmac.compare_digest(secret.encode(), (given or "").encode()) for secret in secrets):
        raise Unauthenticated(f"{place} does not hold the webhook's secret")


def _check_hmac(authentication: WebhookAuthentication, secrets: Sequence[str], request: WebhookRequest) -> None:
    place, given = _header(authentication, request)
    given = (given or "").lower() if authentication.encoding is Encoding.HEX else given or ""
    wanted = [_hmac(authentication, secret, request.body) for secret in secrets]
    if not any(hmac.compare_digest(each.encode(), given.encode()) for each in wanted):
        raise Unauthenticated(f"{place} does not hold the signature of the body")


def _header(authentication: WebhookAuthentication, request: WebhookRequest) -> tuple[str, str | None]:
    """Where the proof is, in words, and the proof without its prefix."""
    name = authentication.header or ""
    value = request.headers.get(name.lower())
    if value is None or not value.startswith(authentication.prefix):
        return f"the header {name}", None
    return f"the header {name}", value.removeprefix(authentication.prefix).strip()


def _hmac(authentication: WebhookAuthentication, secret: str, body: bytes) -> str:
    digest = hmac.digest(secret.encode(), body, authentication.algorithm.value)
    return digest.hex() if authentication.encoding is Encoding.HEX else base64.b64encode(digest).decode()
