"""The configuration kind ApiSubscription."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from penstock.areas.apim.kinds.registered import (
    RegisteredKind,
    parameters_of,
    spec_of,
)
from penstock.areas.apim.model import ApiSubscription
from penstock.areas.apim.register import Registers
from penstock.areas.apim.stored import StoredSubscription
from penstock.areas.apim.subscriptions import SubscriptionService
from penstock.kernel.actor import Actor
from penstock.kernel.duration import Duration
from penstock.protocol.gateway import Access
from penstock.resource.kind import Metadata, Spec
from penstock.store.write import Write


class RateLimitSpec(Spec):
    """At most so many calls in a time; each gateway counts its own."""

    calls: int
    period: Annotated[Duration, msgspec.Meta(description="Whole seconds, from one to a day, such as `00:01:00`.")]


class QuotaSpec(Spec):
    """At most so many calls in a period, over all gateways."""

    calls: int
    period: Annotated[str, msgspec.Meta(description="day, week, month, or a duration of whole hours up to a year.")]


class SubscriberSpec(Spec):
    """How callers show who they are, and how much they may call."""

    rate_limit: RateLimitSpec | None = None
    quota: QuotaSpec | None = None
    user_name: Annotated[str | None, msgspec.Meta(description="Of type basic; the key is the password.")] = None
    issuer: Annotated[str | None, msgspec.Meta(description="Of type oidc: who makes the tokens.")] = None
    audience: Annotated[str | None, msgspec.Meta(description="Of type oidc: whom the tokens are for.")] = None
    jwks_uri: Annotated[
        str | None, msgspec.Meta(description="Of type oidc: the issuer's keys; found out when omitted.")
    ] = None
    claim: Annotated[str | None, msgspec.Meta(description="Of type oidc: only tokens with this claim count.")] = None
    value: Annotated[str | None, msgspec.Meta(description="Of type oidc: what the claim must be.")] = None


class ApiSubscriptionSpec(Spec):
    """Leave to call APIs."""

    apis: Annotated[
        list[str],
        msgspec.Meta(description="APIs, for all their versions, or `api/version`; the same text may make them."),
    ]
    type: Annotated[str, msgspec.Meta(description="apikey, basic or oidc.")] = Access.API_KEY.value
    parameters: SubscriberSpec = msgspec.field(default_factory=SubscriberSpec)
    additional_headers: Annotated[
        dict[str, str],
        msgspec.Meta(description="Added to each request. `{{var:NAME}}` is replaced; secrets must be variables."),
    ] = {}
    variables: Annotated[
        dict[str, str], msgspec.Meta(description="Values of variables that win over the platform's.")
    ] = {}
    key: Annotated[
        str | None,
        msgspec.Meta(description="Made when omitted, and read with `GET /apim/subscriptions/{name}/key`. Never shown."),
    ] = None


class ApiSubscriptionKind(RegisteredKind[ApiSubscriptionSpec, StoredSubscription]):
    """A subscription: who may call which APIs, and how much."""

    kind = "ApiSubscription"
    spec = ApiSubscriptionSpec

    def __init__(self, subscriptions: SubscriptionService, registers: Registers) -> None:
        super().__init__(subscriptions, registers)
        self._subscriptions = subscriptions

    async def plan_put(
        self, metadata: Metadata, spec: ApiSubscriptionSpec, before: StoredSubscription | None, actor: Actor
    ) -> tuple[StoredSubscription, Sequence[Write]]:
        wanted = ApiSubscription(
            name=metadata.name,
            description=metadata.description,
            apis=spec.apis,
            type=spec.type,
            parameters=parameters_of(spec.parameters),
            additional_headers=dict(spec.additional_headers),
            variables=dict(spec.variables),
            key=spec.key,
        )
        after, writes, _ = await self._subscriptions.plan(wanted, before, actor)
        return after, writes

    def shown(self, entity: StoredSubscription) -> ApiSubscriptionSpec:
        return ApiSubscriptionSpec(
            apis=entity.apis,
            type=entity.type,
            parameters=spec_of(entity.parameters, SubscriberSpec),
            additional_headers=entity.additional_headers,
            variables=entity.variables,
        )
