"""The configuration kind ApiVersion."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec

from penstock.areas.apim.kinds.registered import (
    RegisteredKind,
    parameters_of,
    spec_of,
)
from penstock.areas.apim.model import ApiAuthentication, ApiVersion, ConnectionSettings, DecompressionMethods
from penstock.areas.apim.register import Registers
from penstock.areas.apim.stored import StoredVersion
from penstock.areas.apim.versions import VersionService
from penstock.kernel.actor import Actor
from penstock.kernel.duration import Duration
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.names import name_errors
from penstock.resource.kind import Metadata, Need, Spec
from penstock.store.write import Write


class UpstreamSpec(Spec):
    """Where the requests of a version go; `{{var:NAME}}` in url, healthPath and values of headers is replaced."""

    url: Annotated[str | None, msgspec.Meta(description="Of type address: http or https, with a path or not.")] = None
    endpoint: Annotated[
        str | None,
        msgspec.Meta(description="Of type endpoint: the route of an endpoint, which the same text may make."),
    ] = None
    trigger: Annotated[
        str | None, msgspec.Meta(description="Of type trigger: route or name of a web trigger or notebook endpoint.")
    ] = None
    timeout: Annotated[Duration | None, msgspec.Meta(description="For the whole answer; a minute when omitted.")] = None
    retries: Annotated[
        int | None, msgspec.Meta(description="Of requests that may be repeated, 0 to 10; 1 when omitted.")
    ] = None
    health_path: Annotated[
        str | None, msgspec.Meta(description="Asked to know whether a host is well, like `/health`.")
    ] = None
    headers: Annotated[
        dict[str, str] | None,
        msgspec.Meta(description="Added to each request. What looks like a secret must be a variable."),
    ] = None
    deprecated: Annotated[
        datetime | None, msgspec.Meta(description="Since when it is deprecated; callers are told (RFC 9745).")
    ] = None
    sunset: Annotated[
        datetime | None, msgspec.Meta(description="When it will go away; callers are told (RFC 8594).")
    ] = None
    open_api: Annotated[
        str | dict[str, Any] | None,
        msgspec.Meta(
            description="The address of its OpenAPI document (JSON), or the document; unless given, what the endpoint "
            "shows, or the parameters of the trigger."
        ),
    ] = None


class AuthenticationSpec(Spec):
    """Who may call a version."""

    type: Annotated[
        str | None,
        msgspec.Meta(
            description="`none`: everybody; apikey, basic, oidc, or several with commas: subscriptions of these types; "
            "every subscription that lists it when omitted."
        ),
    ] = None


class ConnectionSpec(Spec):
    """How the gateway connects."""

    use_proxy: Annotated[bool, msgspec.Meta(description="By the gateway's proxy.")] = False
    allow_auto_redirect: Annotated[bool, msgspec.Meta(description="The gateway follows redirects.")] = False
    automatic_decompression: Annotated[
        Literal["none", "gzip", "deflate", "brotli", "all"],
        msgspec.Meta(description="Which encodings of answers the gateway undoes."),
    ] = "none"
    use_cookies: Annotated[bool, msgspec.Meta(description="Cookies are passed on, both ways.")] = True
    connect_timeout: Annotated[Duration | None, msgspec.Meta(description="At most 5 minutes; 15 s when omitted.")] = (
        None
    )


class ApiVersionSpec(Spec):
    """A version of an API."""

    api_name: Annotated[
        str | None,
        msgspec.Meta(description="Its API, which the same text may make; omitted when metadata.name is `api/version`."),
    ] = None
    version: Annotated[str | None, msgspec.Meta(description="Such as `v1`, a segment of the path.")] = None
    is_active: Annotated[bool, msgspec.Meta(description="Whether gateways serve it.")] = True
    type: Annotated[str, msgspec.Meta(description="What serves it: address, endpoint or trigger.")]
    parameters: UpstreamSpec
    variables: Annotated[
        dict[str, str], msgspec.Meta(description="Values of variables that win over the platform's.")
    ] = {}
    authentication: AuthenticationSpec | None = None
    connection: ConnectionSpec | None = None


class ApiVersionKind(RegisteredKind[ApiVersionSpec, StoredVersion]):
    """A version of an API, served at `/{prefix}/{version}/`. It is called `api/version`, or as you like."""

    kind = "ApiVersion"
    spec = ApiVersionSpec

    def __init__(self, versions: VersionService, registers: Registers) -> None:
        super().__init__(versions, registers)
        self._versions = versions

    async def plan_put(
        self, metadata: Metadata, spec: ApiVersionSpec, before: StoredVersion | None, actor: Actor
    ) -> tuple[StoredVersion, Sequence[Write]]:
        wanted = _wanted(metadata, _with_identity(metadata, spec))
        return await self._versions.plan(wanted, before, actor, name=metadata.name)

    async def needs(self, entity: StoredVersion) -> Sequence[Need]:
        return await self._versions.needs(entity)

    def shown(self, entity: StoredVersion) -> ApiVersionSpec:
        authentication, connection = entity.authentication, entity.connection
        return ApiVersionSpec(
            api_name=entity.api_name,
            version=entity.version,
            is_active=entity.is_active,
            type=entity.type,
            parameters=spec_of(entity.parameters, UpstreamSpec),
            variables=entity.variables,
            authentication=AuthenticationSpec(type=authentication.type) if authentication is not None else None,
            connection=ConnectionSpec(
                use_proxy=connection.use_proxy,
                allow_auto_redirect=connection.allow_auto_redirect,
                automatic_decompression=_WORDS[connection.automatic_decompression],
                use_cookies=connection.use_cookies,
                connect_timeout=connection.connect_timeout,
            ),
        )


_Word = Literal["none", "gzip", "deflate", "brotli", "all"]
_METHODS: dict[_Word, DecompressionMethods] = {
    "none": DecompressionMethods.NONE,
    "gzip": DecompressionMethods.GZIP,
    "deflate": DecompressionMethods.DEFLATE,
    "brotli": DecompressionMethods.BROTLI,
    "all": DecompressionMethods.ALL,
}
_WORDS: dict[DecompressionMethods, _Word] = {method: word for word, method in _METHODS.items()}


def _with_identity(metadata: Metadata, spec: ApiVersionSpec) -> ApiVersionSpec:
    """With API and version as metadata.name says, where the spec leaves them out. Raises Invalid."""
    api_name, slash, version = metadata.name.partition("/")
    if slash:
        errors = [
            FieldError(field, f"must be {part}, as metadata.name says")
            for field, given, part in (("ApiName", spec.api_name, api_name), ("Version", spec.version, version))
            if given is not None and given.casefold() != part.casefold()
        ]
        if errors:
            raise Invalid(errors)
        return msgspec.structs.replace(spec, api_name=api_name, version=version)
    if errors := name_errors("Name", metadata.name):
        raise Invalid(errors)
    return spec


def _wanted(metadata: Metadata, spec: ApiVersionSpec) -> ApiVersion:
    authentication = spec.authentication
    return ApiVersion(
        version=spec.version,
        api_name=spec.api_name,
        description=metadata.description,
        is_active=spec.is_active,
        type=spec.type,
        parameters=parameters_of(spec.parameters),
        variables=dict(spec.variables),
        authentication=ApiAuthentication(type=authentication.type) if authentication is not None else None,
        connection=_connection(spec.connection) if spec.connection is not None else None,
    )


def _connection(spec: ConnectionSpec) -> ConnectionSettings:
    settings = ConnectionSettings(
        use_proxy=spec.use_proxy,
        allow_auto_redirect=spec.allow_auto_redirect,
        automatic_decompression=_METHODS[spec.automatic_decompression],
        use_cookies=spec.use_cookies,
    )
    if spec.connect_timeout is not None:
        settings.connect_timeout = spec.connect_timeout
    return settings
