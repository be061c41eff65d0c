"""The one list of all kinds of components, endpoints and event sources: the built-in ones and those of installed
packages (entry points of the group `penstock.connectors`)."""

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from itertools import chain
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import msgspec
import structlog

from penstock.connectors.component import ComponentKind
from penstock.connectors.endpoint import EndpointKind
from penstock.connectors.kind import Kind
from penstock.connectors.reference import names_in, without_unknown
from penstock.connectors.source import SourceKind
from penstock.egress.address_guard import AddressGuard
from penstock.kernel.errors import Fault, FieldError, Invalid
from penstock.kernel.validation import from_builtins, read_leniently

log = structlog.get_logger(__name__)

K = TypeVar("K", bound=Kind)

ENTRY_POINTS = "penstock.connectors"
BUILT_IN = "penstock"


class Family(StrEnum):
    """What a kind is for; the value is the folder of the built-in ones."""

    COMPONENT = "components"
    ENDPOINT = "endpoints"
    SOURCE = "sources"


_BASES: dict[Family, type[Kind]] = {
    Family.COMPONENT: ComponentKind,
    Family.ENDPOINT: EndpointKind,
    Family.SOURCE: SourceKind,
}


class Registered(NamedTuple):
    """A kind, and the distribution that brings it: its name, `penstock` for the built-in ones, and version.

    packaged: its package has an environment of its own.
    """

    kind: type[Kind]
    package: str
    package_version: str
    packaged: bool = False


class Registry:
    """Kinds by family, identifier and version; identifiers are compared without case."""

    def __init__(self, registered: Iterable[Registered]) -> None:
        """Raises TypeError when two kinds of a family have one identifier, or a kind has no family."""
        self._own: dict[Family, dict[str, Registered]] = {family: {} for family in Family}
        self._packaged: dict[Family, dict[str, list[Registered]]] = {family: {} for family in Family}
        self._put: WeakKeyDictionary[object, Sequence[Registered]] = WeakKeyDictionary()
        for each in registered:
            known = self._own[_family(each.kind)]
            key = each.kind.identifier.casefold()
            if not key or key in known:
                raise TypeError(f"{each.kind.__qualname__}: the identifier '{each.kind.identifier}' is empty or taken")
            known[key] = each

    def put_packaged(self, owner: object, registered: Iterable[Registered]) -> None:
        """Puts kinds whose packages have an environment of their own in the place of those that the owner put before.

        They may be there in several versions. One whose identifier is that of a kind of this installation is left out.
        """
        self._put[owner] = list(registered)
        packaged: dict[Family, dict[str, list[Registered]]] = {family: {} for family in Family}
        for each in chain.from_iterable(self._put.values()):
            family, key = _family(each.kind), each.kind.identifier.casefold()
            if key not in self._own[family]:
                packaged[family].setdefault(key, []).append(each)
        for kinds in packaged.values():
            for versions in kinds.values():
                versions.sort(key=_newest_first)
        self._packaged = packaged

    def find(self, family: Family, identifier: str) -> type[Kind] | None:
        """The newest version of the kind."""
        versions = self._versions(family, identifier)
        return versions[0].kind if versions else None

    def all(self, family: Family) -> Sequence[Registered]:
        """By identifier, newest versions first."""
        keys = sorted({*self._own[family], *self._packaged[family]})
        return [each for key in keys for each in self._versions(family, key)]

    def registered(self, family: Family, identifier: str | None, version: str | None) -> Registered:
        """The newest of the kinds of that identifier that is of the version asked for.

        Raises Invalid naming `Type`, with the known ones, or `Version`.
        """
        versions = self._versions(family, identifier or "")
        if not versions:
            known = ", ".join(dict.fromkeys(each.kind.identifier for each in self.all(family)))
            raise Invalid.one("Type", f"must be one of {known}")
        for each in versions:
            if each.kind.takes(version):
                return each
        present = " or ".join(each.kind.version for each in versions)
        raise Invalid.one("Version", f"must be {present} for the type {versions[0].kind.identifier}")

    def kind(self, family: Family, identifier: str | None, version: str | None) -> type[Kind]:
        """The kind of that identifier and version. Raises Invalid as `registered`."""
        return self.registered(family, identifier, version).kind

    def _versions(self, family: Family, identifier: str) -> Sequence[Registered]:
        key = identifier.casefold()
        if key in self._own[family]:
            return [self._own[family][key]]
        return self._packaged[family].get(key, ())

    async def check(
        self,
        family: Family,
        identifier: str | None,
        version: str | None,
        configuration: str | None,
        guard: AddressGuard | None = None,
    ) -> type[Kind]:
        """Checks one use of a kind, as far as that can be done before `{{var:NAME}}` in it is replaced.

        configuration: a JSON object; none is an empty one. guard: also checks the addresses that it connects to.
        Answers the kind. Raises Invalid with fields `Type`, `Version`, or `Configuration` and the path in it.
        """
        kind = self.kind(family, identifier, version)
        given = configuration_object(configuration)
        use, errors = read_leniently(given, kind)
        try:
            # What has a wrong field beside it is checked all the same; what stands in for a bad value is not.
            if use is not None and all(each.fault is Fault.UNKNOWN for each in errors):
                use.check()
                if guard is not None:
                    await guard.check({field: host for field, host in use.targets().items() if not names_in(host)})
        except Invalid as error:
            errors = [*errors, *error.errors]
        left = without_unknown(errors, given)
        if left:
            raise _in_configuration(left)
        return kind


def built(kind: type[K], configuration: Any) -> K:
    """A use of the kind from its configuration, an object whose variables are replaced. Raises Invalid as `check`."""
    try:
        use = from_builtins(configuration, kind)
        use.check()
    except Invalid as error:
        raise _in_configuration(error.errors) from None
    return use


def configuration_object(configuration: str | None) -> dict[str, Any]:
    """The JSON object in the text; empty for none. Raises Invalid naming `Configuration`."""
    try:
        given = msgspec.json.decode(configuration) if configuration and configuration.strip() else {}
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        given = None
    if not isinstance(given, dict):
        raise Invalid.one("Configuration", "must be a JSON object")
    return given


@cache
def registry() -> Registry:
    """The kinds of this installation. A package that cannot be loaded is logged and left out."""
    return Registry([*_built_in(), *_installed(entry_points(group=ENTRY_POINTS))])


def _built_in() -> Iterator[Registered]:
    version = importlib.metadata.version("penstock")
    for family in Family:
        folder = f"penstock.connectors.{family}"
        package = importlib.import_module(folder)
        for module in pkgutil.iter_modules(package.__path__, f"{folder}."):
            yield Registered(_declared(module.name, _BASES[family]), BUILT_IN, version)


def _declared(module_name: str, base: type[Kind]) -> type[Kind]:
    module = importlib.import_module(module_name)
    own = [
        value
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module_name
    ]
    if len(own) != 1:
        raise TypeError(f"{module_name} must declare exactly one {base.__name__}")
    return own[0]


def _installed(points: Iterable[EntryPoint]) -> Iterator[Registered]:
    for point in points:
        try:
            kind = point.load()
            _family(kind)
        except Exception as error:  # noqa: BLE001 - foreign code: one bad package must not stop the platform
            log.error("connector package cannot be loaded", entry_point=point.name, error=repr(error))
            continue
        distribution = point.dist
        yield Registered(kind, distribution.name if distribution else "", distribution.version if distribution else "")


def _newest_first(registered: Registered) -> list[int]:
    return [-int(part) if part.isdigit() else 0 for part in registered.kind.version.split(".")]


def _family(kind: Any) -> Family:
    for family, base in _BASES.items():
        if isinstance(kind, type) and issubclass(kind, base):
            return family
    raise TypeError(f"{kind!r} is no kind of component, endpoint or event source")


def _in_configuration(errors: Iterable[FieldError]) -> Invalid:
    return Invalid(
        msgspec.structs.replace(each, field=f"Configuration.{each.field}" if each.field else "Configuration")
        for each in errors
    )
