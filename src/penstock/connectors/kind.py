"""The base of everything that channels and event sources are put together from."""

from collections.abc import Mapping
from functools import cache
from inspect import cleandoc
from typing import Annotated, Any, ClassVar, dataclass_transform

import msgspec

from penstock.kernel.wire import WireMeta, document_name

Secret = Annotated[str, msgspec.Meta(extra_json_schema={"format": "password", "writeOnly": True})]
"""A text that is never answered or logged. Best given as `{{var:NAME}}`."""
Confidential = Annotated[str, msgspec.Meta(extra_json_schema={"x-secret-variables": True})]
"""A text that is answered as it is given, but that secret variables may be part of; it never becomes part of events."""


@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Part(msgspec.Struct, metaclass=WireMeta, rename=document_name, forbid_unknown_fields=True, frozen=True):
    """An object inside a configuration. Field names are camelCase in JSON; their Meta descriptions document them."""


class Kind(Part, frozen=True):
    """One use of a kind: its fields are the configuration, declared once.

    Fields with a default may be left out. The docstring's first paragraph describes the kind in catalogs.

    identifier: the `Type` that names it. version: of the configuration's form, major.minor.patch.
    """

    identifier: ClassVar[str] = ""
    version: ClassVar[str] = "1.0.0"

    def check(self) -> None:
        """Checks what the fields' types cannot. Raises Invalid, fields named as in the configuration."""

    def targets(self) -> Mapping[str, str]:
        """The hosts that it connects to, by the field that names them."""
        return {}

    @classmethod
    def description(cls) -> str:
        return " ".join(cleandoc(cls.__doc__ or "").split("\n\n")[0].split())

    @classmethod
    def schema(cls) -> dict[str, Any]:
        """JSON Schema (2020-12) of the configuration; secrets have the format `password`."""
        return _schema(cls)

    @classmethod
    def takes(cls, version: str | None) -> bool:
        """Whether `version` asks for this one: nothing, or its leading parts; zeros at the end do not count."""
        asked = [part for part in (version or "").split(".") if part]
        while asked and asked[-1] == "0":
            asked.pop()
        return cls.version.split(".")[: len(asked)] == asked


@cache
def _schema(kind: type[Kind]) -> dict[str, Any]:
    (reference,), definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    name = reference["$ref"].rpartition("/")[2]
    own = definitions.pop(name)
    own.update(title=kind.identifier, description=kind.description())
    others = {"$defs": definitions} if definitions else {}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **own, **others}
