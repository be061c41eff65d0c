"""Kinds that stand for those of a package: configured like others, while the package's process does the work."""

from collections.abc import Callable, Iterable
from typing import Any, ClassVar, cast

import jsonschema_rs
import msgspec

from penstock.connectors.component import Apply, ComponentKind
from penstock.connectors.failure import DeliveryFailed, Undeliverable
from penstock.connectors.kind import Kind
from penstock.connectors.packaged import message
from penstock.connectors.packaged.message import DescribedKind, Use
from penstock.connectors.packaged.process import PackageFailed, PackageProcess
from penstock.connectors.registry import Family, Registered
from penstock.connectors.source import Emit, Findings, Position, SourceKind
from penstock.connectors.source_surroundings import SourceSurroundings
from penstock.connectors.surroundings import Surroundings
from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.wire import WireMeta
from penstock.packages.environment import Package
from penstock.packages.uv import InstallFailed
from penstock.protocol.cloudevent import CloudEvent

Processes = Callable[[Package], PackageProcess]


class _Packaged(Kind, frozen=True):
    """What the kinds of both families share. described: by the package. process: answers the package's process."""

    described: ClassVar[DescribedKind]
    process: ClassVar[Callable[[], PackageProcess]]
    decoded_schema: ClassVar[dict[str, Any]]
    allow_private: ClassVar[bool]

    @classmethod
    def description(cls) -> str:
        return cls.described.description

    @classmethod
    def schema(cls) -> dict[str, Any]:
        return cls.decoded_schema

    def check(self) -> None:
        # The value itself may be a secret.
        validator = jsonschema_rs.Draft202012Validator(self.decoded_schema, mask="the value")
        errors = [
            FieldError(_path(error.instance_path), error.message) for error in validator.iter_errors(self.given())
        ]
        if errors:
            raise Invalid(errors)

    def given(self) -> dict[str, Any]:
        """The configuration as it was given."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return {name: value for name, value in values.items() if value is not None}

    def use(self, name: str) -> Use:
        return Use(
            identifier=self.identifier,
            version=self.version,
            configuration=self.given(),
            name=name,
            allow_private=self.allow_private,
        )


class _PackagedSource(_Packaged, SourceKind, frozen=True):
    async def poll(self, position: Position, surroundings: SourceSurroundings) -> Findings:
        use = self.use(surroundings.name)
        process = type(self).process()
        found = await process.call(
            lambda call: message.Poll(call=call, use=use, position=position, due=surroundings.due)
        )
        return msgspec.convert(found, Findings)

    async def listen(self, position: Position, emit: Emit, surroundings: SourceSurroundings) -> None:
        use = self.use(surroundings.name)
        await type(self).process().listen(lambda call: message.Listen(call=call, use=use, position=position), emit)


class _PackagedComponent(_Packaged, ComponentKind, frozen=True):
    def start(self, surroundings: Surroundings) -> Apply:
        use = self.use(surroundings.channel)
        process = type(self).process()

        async def apply(event: CloudEvent) -> CloudEvent | None:
            body = event.to_json()
            try:
                after = await process.call(lambda call: message.Apply(call=call, use=use, event=body))
            except (InstallFailed, PackageFailed) as error:
                reason = f"the component {use.identifier} fails: {error.detail}"
                if isinstance(error, PackageFailed) and error.permanent:
                    raise Undeliverable(reason) from None
                raise DeliveryFailed(reason, getattr(error, "retry_after", None)) from None
            return CloudEvent.from_json(after) if after is not None else None

        return apply


def packaged_kinds(
    package: Package, described: Iterable[DescribedKind], processes: Processes, *, allow_private: bool
) -> list[Registered]:
    """A kind for each that the package describes."""
    return [
        Registered(
            packaged_kind(package, each, processes, allow_private=allow_private),
            package.name,
            package.version or "",
            packaged=True,
        )
        for each in described
    ]


def packaged_kind(
    package: Package, described: DescribedKind, processes: Processes, *, allow_private: bool
) -> type[Kind]:
    """The kind that stands for the described one; its fields are those of the schema, of any JSON type."""
    base = _PackagedSource if described.family == Family.SOURCE else _PackagedComponent
    schema = msgspec.json.decode(described.schema)
    required = set(schema.get("required", ()))
    present = {field.encode_name for field in msgspec.structs.fields(base)}
    names = [name for name in schema.get("properties", {}) if name not in present]
    fields = {f"field_{index}": name for index, name in enumerate(names)}
    namespace: dict[str, Any] = {
        "__module__": __name__,
        "__doc__": described.description,
        "__annotations__": dict.fromkeys(fields, Any),
        **{field: msgspec.UNSET for field, name in fields.items() if name not in required},
        "identifier": described.identifier,
        "version": described.version,
        "described": described,
        "decoded_schema": schema,
        "allow_private": allow_private,
        "process": staticmethod(lambda: processes(package)),
    }
    if described.family == Family.SOURCE:
        namespace |= {
            "requires_polling": described.requires_polling,
            "stateful": described.stateful,
            "shared": described.shared,
            "on_servers": described.on_servers,
        }
    kind = WireMeta("PackagedKind", (base,), namespace, rename=fields, frozen=True)
    return cast(type[Kind], kind)


def _path(parts: Iterable[str | int]) -> str:
    """Like `signing.secrets[0]`."""
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
