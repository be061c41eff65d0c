"""The configuration kind Api."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

from penstock.areas.apim.apis import ApiService
from penstock.areas.apim.kinds.registered import RegisteredKind
from penstock.areas.apim.model import Api
from penstock.areas.apim.register import Registers
from penstock.areas.apim.stored import StoredApi
from penstock.kernel.actor import Actor
from penstock.resource.kind import Metadata, Spec
from penstock.store.write import Write


class ApiSpec(Spec):
    """An API that gateways publish."""

    prefix: Annotated[
        str | None,
        msgspec.Meta(
            description="The path that its versions are served below, like `orders` or `shop/orders`; the API's name "
            "when omitted."
        ),
    ] = None


class ApiKind(RegisteredKind[ApiSpec, StoredApi]):
    """An API: its versions are served by gateways at `/{prefix}/{version}/`."""

    kind = "Api"
    spec = ApiSpec

    def __init__(self, apis: ApiService, registers: Registers) -> None:
        super().__init__(apis, registers)
        self._apis = apis

    async def plan_put(
        self, metadata: Metadata, spec: ApiSpec, before: StoredApi | None, actor: Actor
    ) -> tuple[StoredApi, Sequence[Write]]:
        wanted = Api(name=metadata.name, description=metadata.description, prefix=spec.prefix)
        return self._apis.plan(wanted, before, actor)

    def shown(self, entity: StoredApi) -> ApiSpec:
        return ApiSpec(prefix=entity.prefix)
