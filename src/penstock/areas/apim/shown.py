"""APIs, versions and subscriptions as answers show them."""

from typing import Any

import msgspec

from penstock.areas.apim.model import (
    MASK,
    ApiDetailsDto,
    ApiSubscription,
    ApiSubscriptionDto,
    ApiVersion,
    ApiVersionDto,
)
from penstock.areas.apim.register import Register
from penstock.areas.apim.stored import StoredApi, StoredSubscription, StoredVersion
from penstock.kernel.entity import Entity
from penstock.kernel.wire import encode


def details(api: StoredApi, register: Register) -> ApiDetailsDto:
    """An API with what belongs to it, newest first."""
    versions = sorted(register.versions_of(api), key=_newest_first, reverse=True)
    subscriptions = sorted(register.subscriptions_of(api), key=_newest_first, reverse=True)
    return ApiDetailsDto(
        versions=[version_dto(each) for each in versions],
        subscriptions=[shown_subscription(each) for each in subscriptions],
        name=api.name,
        description=api.description,
        prefix=api.prefix,
    )


def shown_version(version: StoredVersion) -> ApiVersion:
    return ApiVersion(**_shared(version, ApiVersion) | {"key": version.listed})


def version_dto(version: StoredVersion) -> ApiVersionDto:
    return ApiVersionDto(**_shared(version, ApiVersionDto) | {"parameters": encode(version.parameters).decode()})


def shown_subscription(subscription: StoredSubscription, key: str | None = None) -> ApiSubscription:
    """key: in clear, when it is to be shown."""
    return ApiSubscription(**_shared(subscription, ApiSubscription) | {"key": key or _masked(subscription)})


def subscription_dto(subscription: StoredSubscription) -> ApiSubscriptionDto:
    own = {"parameters": encode(subscription.parameters).decode(), "key": _masked(subscription)}
    return ApiSubscriptionDto(**_shared(subscription, ApiSubscriptionDto) | own)


def _masked(subscription: StoredSubscription) -> str | None:
    return MASK if subscription.key_prints else None


def _shared(entity: Entity, form: type[msgspec.Struct]) -> dict[str, Any]:
    """The fields that both have."""
    return {name: getattr(entity, name) for name in form.__struct_fields__ if name in entity.__struct_fields__}


def _newest_first(entity: Entity) -> tuple[str, str]:
    return entity.created_date.isoformat(), str(entity.id)
