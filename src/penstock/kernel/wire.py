"""What crosses the network: Structs whose wire names are made from the Python names by one rule.

`server_base_address` is `ServerBaseAddress`; nowhere is a wire name written by hand.
"""

import re
from datetime import UTC, datetime
from typing import Annotated, Any, dataclass_transform

import msgspec

from penstock.kernel.duration import Duration


def wire_name(python_name: str) -> str:
    """`e_tag` -> `ETag`, `http3_encoded_bytes` -> `Http3EncodedBytes`."""
    return "".join(part[:1].upper() + part[1:] for part in python_name.split("_"))


def document_name(python_name: str) -> str:
    """The camelCase form that configuration documents use: `cron_expression` -> `cronExpression`."""
    name = wire_name(python_name)
    return name[:1].lower() + name[1:]


@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class WireMeta(msgspec.StructMeta):
    """Makes every subclass keyword-only, which msgspec does not inherit."""

    def __new__(mcls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **options: Any) -> Any:
        options.setdefault("kw_only", True)
        return super().__new__(mcls, name, bases, namespace, **options)


@dataclass_transform(kw_only_default=True, field_specifiers=(msgspec.field,))
class Wire(msgspec.Struct, metaclass=WireMeta, rename=wire_name, forbid_unknown_fields=True):
    """Base of every type of the HTTP API and of the messages on the bus."""


Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1, extra_json_schema={"format": "int32"})]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1, extra_json_schema={"format": "int64"})]
# msgspec takes no bound beyond 2^63; only answers hold such numbers.
UInt64 = Annotated[int, msgspec.Meta(ge=0, extra_json_schema={"format": "uint64"})]
Map = dict[str, Any]
"""A free-form object; its keys are never re-cased."""


def utc(value: datetime) -> datetime:
    """`value` in UTC; without offset it is taken as UTC. Raises OverflowError outside the years 1 to 9999."""
    return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


_TIME = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d(?::?\d\d)?)?)?",
    re.ASCII | re.IGNORECASE,
)
_TIME_EXPECTED = "must be an ISO 8601 date-time like '2026-01-31T08:30:00Z'"


def parse_time(text: str) -> datetime:
    """ISO 8601, with or without seconds and offset, or a date alone (midnight). Raises ValueError."""
    if not _TIME.fullmatch(text):
        raise ValueError(_TIME_EXPECTED)
    try:
        return utc(datetime.fromisoformat(text.upper()))
    except (ValueError, OverflowError):
        raise ValueError(_TIME_EXPECTED) from None


def decode_hook(wanted: type, value: Any) -> Any:
    if wanted is Duration:
        if not isinstance(value, str):
            raise TypeError("must be a duration like '00:00:30' or 'PT30S'")
        return Duration.parse(value)
    raise NotImplementedError(f"no wire form for {wanted}")


def encode_hook(value: Any) -> Any:
    if isinstance(value, Duration):
        return str(value)
    raise NotImplementedError(f"no wire form for {type(value)}")


_encoder = msgspec.json.Encoder(enc_hook=encode_hook)


def encode(value: Any) -> bytes:
    """The JSON form of a Struct, list or scalar; `msgspec.Raw` passes through undecoded."""
    return _encoder.encode(value)


def join_array(items: list[bytes]) -> bytes:
    """A JSON array of documents that are encoded already."""
    return b"[" + b",".join(items) + b"]"
