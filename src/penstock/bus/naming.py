"""Our names as NATS takes them. Names of streams may contain dots, which separate tokens in NATS."""

from penstock.kernel.names import check_name

_DOT = "%2E"


def stream_key(name: str) -> str:
    """The NATS name of a stream or consumer. Raises Invalid."""
    return check_name("stream", name).replace(".", _DOT)


def stream_name(key: str) -> str:
    """The name that `stream_key` made `key` from."""
    return key.replace(_DOT, ".")
