"""The configuration kind Webhook."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Annotated

import msgspec

from penstock.areas.webhooks.model import (
    EVENT_TYPE,
    Algorithm,
    AuthenticationType,
    Encoding,
    EventData,
    Webhook,
    WebhookAuthentication,
)
from penstock.areas.webhooks.service import WebhookService
from penstock.areas.webhooks.streams import LONGEST_NAME, WebhookStreams
from penstock.connectors.kind import Secret
from penstock.connectors.reference import is_reference
from penstock.connectors.secret_fields import MASK
from penstock.connectors.standard_webhooks import signing_key
from penstock.kernel.actor import Actor
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors
from penstock.resource.kind import ConfigurationKind, Metadata, Need, Plan, Spec
from penstock.resource.ports.channels import Channels

_TYPE = re.compile(r"[!-~]{1,256}", re.ASCII)
_HEADER = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}", re.ASCII)
_LONGEST_TEXT = 1024
_SHORTEST_SECRET = 8
_MOST = 16
_AT = "spec.authentication"


class AuthenticationSpec(Spec):
    """Who may send. Every secret of several holds, so that senders can change to a new one at any time."""

    type: Annotated[
        AuthenticationType,
        msgspec.Meta(
            description="`open`: everybody. `secret`: a header or query parameter holds a secret. `hmac`: a header "
            "holds the HMAC of the body. `standard`: signed as Standard Webhooks specifies it."
        ),
    ]
    secrets: Annotated[
        list[Secret],
        msgspec.Meta(
            description="Encrypted at rest and masked in every answer, or given as `{{var:NAME}}`. The mask in place "
            "of a secret keeps it. For `standard`: base64 of 24 to 64 bytes, with or without `whsec_`."
        ),
    ] = []
    header: Annotated[
        str | None, msgspec.Meta(description="For `secret` and `hmac`: the header, such as X-Hub-Signature-256.")
    ] = None
    query: Annotated[
        str | None,
        msgspec.Meta(description="For `secret`, instead of a header: the query parameter. Addresses get into logs."),
    ] = None
    prefix: Annotated[
        str, msgspec.Meta(description="What stands before it in the header, such as `sha256=` or `Bearer `.")
    ] = ""
    algorithm: Annotated[Algorithm, msgspec.Meta(description="For `hmac`: the hash function.")] = Algorithm.SHA256
    encoding: Annotated[Encoding, msgspec.Meta(description="For `hmac`: how its bytes are written.")] = Encoding.HEX


class WebhookSpec(Spec):
    """An address, `/webhooks/<name>`, that takes requests of any method and makes an event of each."""

    authentication: AuthenticationSpec
    event_type: Annotated[str, msgspec.Meta(description="The `type` of its events.")] = EVENT_TYPE
    type_header: Annotated[
        str | None,
        msgspec.Meta(
            description="A header whose value is added to the type behind a dot, such as X-GitHub-Event. Left out "
            "when it is not made of A-Z a-z 0-9 . _ -"
        ),
    ] = None
    data: Annotated[
        EventData,
        msgspec.Meta(
            description="What the events' data is. `body`: the request's body. `request`: an object of method, path, "
            "query, headers, contentType and body."
        ),
    ] = EventData.BODY
    channels: Annotated[
        list[str],
        msgspec.Meta(
            description="Channels that get the events; the same text may make them. Without any, those that subscribe."
        ),
    ] = []
    description: Annotated[
        str | None, msgspec.Meta(description="What it is for; metadata.description stands in for it.")
    ] = None


class WebhookKind(ConfigurationKind[WebhookSpec]):
    """A webhook. Makes the stream `webhook-<name>`, which keeps the requests for 30 days."""

    kind = "Webhook"
    spec = WebhookSpec

    def __init__(self, service: WebhookService, streams: WebhookStreams, channels: Channels) -> None:
        self._service = service
        self._streams = streams
        self._channels = channels

    async def plan(self, metadata: Metadata, spec: WebhookSpec, actor: Actor) -> Plan:
        before = await self._service.find(metadata.name)
        stored = await self._service.secrets(before) if before is not None else ()
        description = spec.description if spec.description is not None else metadata.description
        secrets = _kept(spec.authentication.secrets, stored)
        errors = [
            *name_errors("metadata.name", metadata.name, LONGEST_NAME),
            *_spec_errors(spec),
            *_text_errors("spec.description", description or ""),
            *_authentication_errors(spec.authentication),
            *_secret_errors(spec.authentication, secrets),
        ]
        if errors:
            raise Invalid(errors)
        wanted = Webhook(
            name=before.name if before is not None else metadata.name,
            description=description,
            authentication=msgspec.convert(spec.authentication, WebhookAuthentication, from_attributes=True),
            event_type=spec.event_type,
            type_header=spec.type_header,
            data=spec.data,
            channels=spec.channels,
        )
        writes = await self._service.plan_put(wanted, secrets, before, actor)
        return Plan.of_put(
            _shown(before) if before is not None else None,
            _shown(wanted, _marks(secrets, stored)),
            writes,
            needs=[
                Need("EventChannel", channel, f"spec.channels[{index}]")
                for index, channel in enumerate(spec.channels)
                if await self._channels.named(channel) is None
            ],
            prepare=[partial(self._streams.ensure, wanted.name)],
            finish=[partial(self._service.announce, wanted.name)],
        )

    async def plan_removal(self, metadata: Metadata, actor: Actor) -> Plan:
        webhook = await self._service.find(metadata.name)
        if webhook is None:
            return Plan("keep")
        return Plan(
            "remove",
            before=_shown(webhook),
            writes=self._service.plan_remove(webhook, actor),
            finish=[partial(self._service.announce, webhook.name), partial(self._streams.remove, webhook.name)],
        )


def _kept(secrets: Sequence[str], stored: Sequence[str]) -> list[str]:
    """The secrets, with the stored ones in place of masks."""
    return [stored[index] if secret == MASK and index < len(stored) else secret for index, secret in enumerate(secrets)]


def _marks(secrets: Sequence[str], stored: Sequence[str]) -> list[str]:
    """The secrets for differences: masked, and marked where they change."""
    return [
        secret if is_reference(secret) else MASK if list(stored[index : index + 1]) == [secret] else f"{MASK} (changed)"
        for index, secret in enumerate(secrets)
    ]


def _shown(webhook: Webhook, secrets: Sequence[str] | None = None) -> WebhookSpec:
    authentication = msgspec.convert(webhook.authentication, AuthenticationSpec, from_attributes=True)
    if secrets is not None:
        authentication = msgspec.structs.replace(authentication, secrets=list(secrets))
    return WebhookSpec(
        authentication=authentication,
        event_type=webhook.event_type,
        type_header=webhook.type_header,
        data=webhook.data,
        channels=webhook.channels,
        description=webhook.description,
    )


def _spec_errors(spec: WebhookSpec) -> list[FieldError]:
    errors = []
    if not _TYPE.fullmatch(spec.event_type):
        errors.append(FieldError("spec.eventType", "must be 1 to 256 printable characters without blanks"))
    if spec.type_header is not None and not _HEADER.fullmatch(spec.type_header):
        errors.append(FieldError("spec.typeHeader", "must be the name of a header"))
    if len(spec.channels) > _MOST:
        errors.append(FieldError("spec.channels", f"must be at most {_MOST}"))
    for index, channel in enumerate(spec.channels):
        errors += name_errors(f"spec.channels[{index}]", channel)
    return errors


def _authentication_errors(authentication: AuthenticationSpec) -> list[FieldError]:
    """What the type needs and does not get, and what it has no use for."""
    type, header, query = authentication.type, authentication.header, authentication.query
    needs_secrets = type is not AuthenticationType.OPEN
    needs_place = type in (AuthenticationType.SECRET, AuthenticationType.HMAC)
    errors = _text_errors(f"{_AT}.prefix", authentication.prefix)
    if needs_secrets != bool(authentication.secrets):
        errors.append(FieldError(f"{_AT}.secrets", f"{'are needed' if needs_secrets else 'have no use'} for `{type}`"))
    if header is not None and not (needs_place and _HEADER.fullmatch(header)):
        message = "must be the name of a header" if needs_place else f"has no use for `{type}`"
        errors.append(FieldError(f"{_AT}.header", message))
    if query is not None and (type is not AuthenticationType.SECRET or not query):
        errors.append(FieldError(f"{_AT}.query", "must be a name, and only for `secret`"))
    if header is not None and query is not None:
        errors.append(FieldError(f"{_AT}.query", "must not be given together with header"))
    if needs_place and header is None and query is None:
        errors.append(FieldError(f"{_AT}.header", f"is needed for `{type}`"))
    return [*errors, *_text_errors(f"{_AT}.query", query or "")]


def _secret_errors(authentication: AuthenticationSpec, secrets: Sequence[str]) -> list[FieldError]:
    errors = []
    if len(secrets) > _MOST:
        errors.append(FieldError(f"{_AT}.secrets", f"must be at most {_MOST}"))
    for index, secret in enumerate(secrets):
        problem = _secret_problem(authentication.type, secret)
        if problem:
            errors.append(FieldError(f"{_AT}.secrets[{index}]", problem))
    return errors


def _secret_problem(type: AuthenticationType, secret: str) -> str:
    if secret == MASK:
        return "is the mask that stands for a secret, not a secret"
    if is_reference(secret):
        return ""
    if type is AuthenticationType.STANDARD:
        try:
            signing_key(secret)
        except ValueError as error:
            return str(error)
    if not _SHORTEST_SECRET <= len(secret) <= _LONGEST_TEXT:
        return f"must have {_SHORTEST_SECRET} to {_LONGEST_TEXT} characters"
    return ""


def _text_errors(field: str, text: str) -> list[FieldError]:
    if "\0" in text or len(text) > _LONGEST_TEXT:
        return [FieldError(field, f"must have at most {_LONGEST_TEXT} characters and no NUL")]
    return []
