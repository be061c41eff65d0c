"""Messages of Envoy's API as JSON."""

from typing import Any

Json = dict[str, Any]

_TYPES = "type.googleapis.com/"


def typed(kind: str, **fields: Any) -> Json:
    """A message that says of which type it is. kind: its full name, such as `envoy.config.cluster.v3.Cluster`."""
    return {"@type": _TYPES + kind, **fields}


def extension(name: str, kind: str, **fields: Any) -> Json:
    """A part of Envoy that is chosen by its configuration's type. name: free, for logs and statistics."""
    return {"name": name, "typed_config": typed(kind, **fields)}


def seconds(value: float) -> str:
    """A duration. value: seconds, to the millisecond."""
    return f"{value:.3f}".rstrip("0").rstrip(".") + "s"
