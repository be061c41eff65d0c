"""How callers of published APIs show who they are, as security schemes."""

from collections.abc import Iterable, Sequence

from penstock.areas.apim.catalog.parts import Object
from penstock.protocol.gateway import Access

_SCHEMES: dict[Access, Object] = {
    Access.API_KEY: {"type": "apiKey", "in": "header", "name": "X-API-Key"},
    Access.BASIC: {"type": "http", "scheme": "basic"},
}
_BEARER = "bearer"
_DISCOVERY = "/.well-known/openid-configuration"

Requirement = dict[str, list[str]]


class SecuritySchemes:
    """Those that versions ask for, one for each issuer of tokens among them."""

    def __init__(self) -> None:
        self.found: Object = {}
        self._issuers: dict[str, str] = {}

    def required(self, access: Iterable[Access], issuers: Sequence[str]) -> list[Requirement]:
        """What an operation asks for: any of these. access: what callers may show; nothing asks for any key."""
        requirements: list[Requirement] = []
        for kind in dict.fromkeys(access or (Access.API_KEY,)):
            match kind:
                case Access.NONE:
                    requirements.insert(0, {})
                case Access.OIDC:
                    requirements += [{self._of_issuer(issuer): []} for issuer in issuers] or [self._of_anybody()]
                case _:
                    self.found[kind.value] = _SCHEMES[kind]
                    requirements.append({kind.value: []})
        return requirements

    def _of_anybody(self) -> Requirement:
        self.found[_BEARER] = {"type": "http", "scheme": "bearer"}
        return {_BEARER: []}

    def _of_issuer(self, issuer: str) -> str:
        if issuer not in self._issuers:
            number = len(self._issuers) + 1
            name = Access.OIDC.value if number == 1 else f"{Access.OIDC.value}_{number}"
            self._issuers[issuer] = name
            address = f"{issuer.rstrip('/')}{_DISCOVERY}"
            self.found[name] = {"type": "openIdConnect", "openIdConnectUrl": address}
        return self._issuers[issuer]
