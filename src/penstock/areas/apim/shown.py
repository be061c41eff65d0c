"""APIs, versions and subscriptions as answers show them."""

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
    return ApiVersion(
        version=version.version,
        api_name=version.api_name,
        description=version.description,
        is_active=version.is_active,
        type=version.type,
        parameters=version.parameters,
        variables=version.variables,
        authentication=version.authentication,
        connection=version.connection,
        key=version.listed,
    )


def version_dto(version: StoredVersion) -> ApiVersionDto:
    return ApiVersionDto(
        version=version.version,
        description=version.description,
        is_active=version.is_active,
        type=version.type,
        parameters=encode(version.parameters).decode(),
        authentication=version.authentication,
        connection=version.connection,
    )


def shown_subscription(subscription: StoredSubscription, key: str | None = None) -> ApiSubscription:
    """key: in clear, when it is to be shown."""
    return ApiSubscription(
        name=subscription.name,
        description=subscription.description,
        apis=subscription.apis,
        type=subscription.type,
        parameters=subscription.parameters,
        additional_headers=subscription.additional_headers,
        variables=subscription.variables,
        key=key or (MASK if subscription.key_prints else None),
    )


def subscription_dto(subscription: StoredSubscription) -> ApiSubscriptionDto:
    return ApiSubscriptionDto(
        name=subscription.name,
        description=subscription.description,
        apis=subscription.apis,
        type=subscription.type,
        parameters=encode(subscription.parameters).decode(),
        key=MASK if subscription.key_prints else None,
    )


def _newest_first(entity: Entity) -> tuple[str, str]:
    return entity.created_date.isoformat(), str(entity.id)
