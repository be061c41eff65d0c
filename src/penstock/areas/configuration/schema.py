"""JSON Schema of configuration kinds, for documentation and editors."""

from typing import Any

import msgspec

from penstock.kernel.duration import Duration
from penstock.kernel.wire import Map
from penstock.resource.kind import Spec


def spec_schema(spec: type[Spec]) -> Map:
    """A self-contained JSON Schema (2020-12) of the Struct."""
    schema = msgspec.json.schema(spec, schema_hook=_schema_of)
    definitions = schema.pop("$defs", {})
    own = definitions.pop(spec.__name__, {})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **own,
        **({"$defs": definitions} if definitions else {}),
    }


def _schema_of(wanted: type) -> dict[str, Any]:
    if wanted is Duration:
        return {"type": "string", "examples": ["00:00:15", "PT15S"]}
    raise NotImplementedError(f"no JSON Schema for {wanted}")
