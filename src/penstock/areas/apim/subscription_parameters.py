"""The Parameters of a subscription: how its callers show who they are, and how much they may call."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Annotated
from urllib.parse import urlsplit

import msgspec

from penstock.connectors.reference import names_in
from penstock.kernel.duration import Duration
from penstock.kernel.errors import FieldError
from penstock.kernel.wire import Wire
from penstock.protocol.gateway import Access

Calls = Annotated[int, msgspec.Meta(ge=1, le=1_000_000_000)]

_USER_NAME = re.compile(r"[!-9;-~]{1,128}", re.ASCII)
_TEXT = re.compile(r"[!-~]{1,500}", re.ASCII)
_SECOND = timedelta(seconds=1)
_HOUR = timedelta(hours=1)
_DAY = timedelta(days=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class RateLimit(Wire):
    """At most so many calls in the period, a second to a day; each gateway counts its own."""

    calls: Calls
    period: Duration


class Quota(Wire):
    """At most so many calls in the period over all gateways.

    Period: `day`, `week` (from Monday) or `month`, in UTC, or a duration of whole hours up to a year,
    counted from 1970.
    """

    calls: Calls
    period: str


class SubscriptionParameters(Wire):
    """What every type takes."""

    rate_limit: RateLimit | None = None
    quota: Quota | None = None


class BasicParameters(SubscriptionParameters):
    """The key is the password."""

    user_name: str


class OidcParameters(SubscriptionParameters):
    """Tokens of an issuer for an audience. Claim, Value: only those that have this value; without, all of them.

    JwksUri: where the issuer's keys are; as its discovery document says when omitted.
    """

    issuer: str
    audience: str
    jwks_uri: str | None = None
    claim: str | None = None
    value: str | None = None


PARAMETERS: Mapping[Access, type[SubscriptionParameters]] = {
    Access.API_KEY: SubscriptionParameters,
    Access.BASIC: BasicParameters,
    Access.OIDC: OidcParameters,
}


def subscription_errors(parameters: SubscriptionParameters) -> Sequence[FieldError]:
    """What is wrong whatever else there is."""
    errors: list[FieldError] = []
    rate, quota = parameters.rate_limit, parameters.quota
    if rate is not None and not (_SECOND <= rate.period <= _DAY and rate.period.microseconds == 0):
        errors.append(FieldError("Parameters.RateLimit.Period", "must be whole seconds, from one to a day"))
    if quota is not None and window(quota.period, _EPOCH) is None:
        message = "must be day, week, month, or a duration of whole hours up to a year"
        errors.append(FieldError("Parameters.Quota.Period", message))
    match parameters:
        case BasicParameters():
            if not _USER_NAME.fullmatch(parameters.user_name):
                message = "must be 1 to 128 printable characters without blanks and colons"
                errors.append(FieldError("Parameters.UserName", message))
        case OidcParameters():
            errors += _oidc_errors(parameters)
    return errors


def _oidc_errors(parameters: OidcParameters) -> list[FieldError]:
    errors = [
        FieldError(f"Parameters.{field}", "must be an address like https://login.example.com")
        for field, address in (("Issuer", parameters.issuer), ("JwksUri", parameters.jwks_uri))
        if address is not None and not is_web_address(address)
    ]
    texts = {"Audience": parameters.audience, "Claim": parameters.claim, "Value": parameters.value}
    errors += [
        FieldError(f"Parameters.{field}", "must be 1 to 500 printable characters without blanks")
        for field, text in texts.items()
        if text is not None and not names_in(text) and not _TEXT.fullmatch(text)
    ]
    if (parameters.claim is None) != (parameters.value is None):
        errors.append(FieldError("Parameters.Claim", "and Value are given together, or none of them"))
    return errors


def is_web_address(address: str) -> bool:
    """Whether it can be one; variables may yet be put into it."""
    if names_in(address):
        return len(address) <= 500
    try:
        parts = urlsplit(address)
        port = parts.port
    except ValueError:
        return False
    fits = _TEXT.fullmatch(address) is not None and port != 0 and parts.username is None and not parts.fragment
    return fits and parts.scheme in ("http", "https") and bool(parts.hostname)


def window(period: str, now: datetime) -> tuple[datetime, datetime] | None:
    """The begin and the end of the quota's period that `now` is in; None when it is no period."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    match period:
        case "day":
            return midnight, midnight + _DAY
        case "week":
            begin = midnight - _DAY * midnight.weekday()
            return begin, begin + 7 * _DAY
        case "month":
            begin = midnight.replace(day=1)
            return begin, (begin + 32 * _DAY).replace(day=1)
    try:
        length = Duration.parse(period)
    except ValueError:
        return None
    if not _HOUR <= length <= 366 * _DAY or length % _HOUR:
        return None
    begin = _EPOCH + (now - _EPOCH) // length * length
    return begin, begin + length
