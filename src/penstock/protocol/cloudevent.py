"""CloudEvents 1.0: the event itself and its JSON format, single and batched."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any, Self, TypeVar

import msgspec

from penstock.kernel.errors import FieldError, Invalid
from penstock.kernel.wire import utc

SPEC_VERSION = "1.0"
JSON_MEDIA = "application/json"
EVENT_MEDIA = "application/cloudevents+json"
BATCH_MEDIA = "application/cloudevents-batch+json"
LONGEST_KEY = 1024
"""Bytes that each of id, source and type may have."""
LONGEST = 4096
"""Bytes that any other attribute may have."""

Extension = str | int | bool
E = TypeVar("E", bound="CloudEvent")


class CloudEvent(msgspec.Struct, frozen=True, kw_only=True):
    """One event. Attribute names are those of the CloudEvents specification.

    time: RFC 3339, as it came. data: a JSON value, or text when datacontenttype is no JSON; None when there is none.
    data_base64: binary data in base64, in place of `data`. extensions: all other attributes.
    """

    id: str
    source: str
    type: str
    specversion: str = SPEC_VERSION
    time: str | None = None
    subject: str | None = None
    datacontenttype: str | None = None
    dataschema: str | None = None
    extensions: Mapping[str, Extension] = {}
    data: Any = None
    data_base64: str | None = None

    @classmethod
    def from_json(cls, body: bytes) -> Self:
        """Reads the JSON format. Raises Invalid naming each bad attribute."""
        return cls.from_value(_decoded(body))

    @classmethod
    def from_value(cls, value: Any, path: str = "") -> Self:
        """Reads the decoded JSON format. path: before the names of attributes in errors, such as `[3].`."""
        errors: list[FieldError] = []
        event = _event(cls, value, path, errors)
        if event is None or errors:
            raise Invalid(errors)
        return event

    @property
    def key(self) -> str:
        """32 hex digits that tell events apart: two with the same source and id are the same event."""
        return hashlib.blake2b(f"{self.source}\0{self.id}".encode(), digest_size=16).hexdigest()

    @property
    def at(self) -> datetime | None:
        """`time` in UTC."""
        return _moment(self.time) if self.time is not None else None

    @property
    def has_json(self) -> bool:
        """Whether the data is JSON, as it is without a datacontenttype."""
        return self.data_base64 is None and is_json(self.datacontenttype)

    def payload(self) -> bytes:
        """The data alone, as bytes of its datacontenttype."""
        if self.data_base64 is not None:
            return base64.b64decode(self.data_base64)
        if self.data is None:
            return b""
        if isinstance(self.data, str) and not self.has_json:
            return self.data.encode()
        return msgspec.json.encode(self.data)

    def attributes(self) -> dict[str, Extension]:
        """Every attribute that is set, extensions included."""
        given = {name: value for name in _NAMES if (value := getattr(self, name)) is not None}
        return {**given, **self.extensions}

    def value(self) -> dict[str, Any]:
        """The JSON format, not encoded."""
        value: dict[str, Any] = self.attributes()
        if self.data_base64 is not None:
            value["data_base64"] = self.data_base64
        elif self.data is not None:
            value["data"] = self.data
        return value

    def to_json(self) -> bytes:
        """The JSON format."""
        return msgspec.json.encode(self.value())


def events_from_batch(body: bytes) -> list[CloudEvent]:
    """Reads the JSON batch format. Raises Invalid naming attributes as `[3].source`."""
    return events_from_values(_decoded(body))


def events_from_values(values: Any) -> list[CloudEvent]:
    """Reads a decoded batch. Raises Invalid, with the bad attributes of all events."""
    if not isinstance(values, list):
        raise Invalid.one("", "a batch must be an array of events")
    errors: list[FieldError] = []
    events = [_event(CloudEvent, value, f"[{index}].", errors) for index, value in enumerate(values)]
    if errors:
        raise Invalid(errors)
    return [event for event in events if event is not None]


def batch_to_json(events: Sequence[CloudEvent]) -> bytes:
    """The JSON batch format."""
    return msgspec.json.encode([event.value() for event in events])


def text_problem(text: str, longest: int = LONGEST_KEY) -> str:
    """What is wrong with text for an attribute; empty when nothing is. longest: bytes."""
    return _text_problem(text, longest)


def is_absolute_uri(text: str) -> bool:
    return not _schema_problem(text)


def is_json(media_type: str | None) -> bool:
    """Whether data of this media type is JSON; without one it is."""
    if media_type is None or media_type == JSON_MEDIA:
        return True
    bare = media_type.partition(";")[0].strip().lower()
    return bare == JSON_MEDIA or bare == "text/json" or bare.endswith("+json")


_NAMES = ("specversion", "id", "source", "type", "time", "subject", "datacontenttype", "dataschema")
_REQUIRED = ("id", "source", "type", "specversion")
# Control characters, surrogates and noncharacters are no text of CloudEvents.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]")
_EXTENSION = re.compile(r"[a-z0-9]{1,64}", re.ASCII)
_REFERENCE = re.compile(r"(?:[A-Za-z0-9\-._~:/?#\[\]@!$&'()*+,;=]|%[0-9A-Fa-f]{2})+", re.ASCII)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:.", re.ASCII)
_MEDIA = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+(?:\s*;.*)?", re.ASCII)
_TIME = re.compile(r"(\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Invalid.one("", f"the body is not valid JSON: {error}") from None


def _event(kind: type[E], value: Any, path: str, errors: list[FieldError]) -> E | None:
    if not isinstance(value, dict):
        errors.append(FieldError(path.rstrip("."), "must be an event: a JSON object"))
        return None
    before = len(errors)
    known: dict[str, Any] = {}
    extensions: dict[str, Extension] = {}
    for name, given in value.items():
        if given is None:
            continue
        check = _CHECKS.get(name)
        problem = check(given) if check is not None else _extension_problem(name, given)
        if problem:
            errors.append(FieldError(path + name, problem))
        elif check is not None:
            known[name] = given
        else:
            extensions[name] = given
    errors += [FieldError(path + name, "is required") for name in _REQUIRED if value.get(name) is None]
    if "data" in known and "data_base64" in known:
        errors.append(FieldError(f"{path}data_base64", "must not be given together with data"))
    return kind(extensions=extensions, **known) if len(errors) == before else None


def _text_problem(given: Any, longest: int = LONGEST) -> str:
    if not isinstance(given, str):
        return "must be a string"
    if not given:
        return "must not be empty"
    if _UNPRINTABLE.search(given):
        return "must not contain control characters"
    if len(given) * 4 > longest and len(given.encode()) > longest:
        return f"must have at most {longest} bytes"
    return ""


def _key_problem(given: Any) -> str:
    return _text_problem(given, LONGEST_KEY)


def _source_problem(given: Any) -> str:
    problem = _key_problem(given)
    if not problem and not _REFERENCE.fullmatch(given):
        return "must be a URI reference; other characters are percent-encoded"
    return problem


def _schema_problem(given: Any) -> str:
    problem = _text_problem(given)
    return problem or ("" if _SCHEME.match(given) and _REFERENCE.fullmatch(given) else "must be an absolute URI")


def _version_problem(given: Any) -> str:
    return "" if given == SPEC_VERSION else f"must be '{SPEC_VERSION}'"


def _time_problem(given: Any) -> str:
    return _text_problem(given) or ("" if _moment(given) else "must be an RFC 3339 time like '2026-01-31T08:30:00Z'")


def _media_problem(given: Any) -> str:
    return _text_problem(given) or ("" if _MEDIA.fullmatch(given) else "must be a media type like 'application/json'")


def _base64_problem(given: Any) -> str:
    try:
        base64.b64decode(given if isinstance(given, str) else "*", validate=True)
    except ValueError:
        return "must be a base64 string"
    return ""


def _extension_problem(name: str, given: Any) -> str:
    if not _EXTENSION.fullmatch(name):
        return "is no attribute: names are 1 to 64 of a-z 0-9"
    if isinstance(given, bool):
        return ""
    if isinstance(given, int):
        return "" if -(2**31) <= given < 2**31 else "must be a 32-bit integer"
    if isinstance(given, str):
        return _text_problem(given) if given else ""
    return "must be a string, boolean or integer"


def _moment(text: str) -> datetime | None:
    parts = _TIME.fullmatch(text)
    if parts is None:
        return None
    seconds, fraction, offset = parts.groups()
    try:
        return utc(datetime.fromisoformat(f"{seconds}{(fraction or '')[:7]}{offset.upper()}"))
    except (ValueError, OverflowError):
        return None


_CHECKS: dict[str, Callable[[Any], str]] = {
    "id": _key_problem,
    "source": _source_problem,
    "type": _key_problem,
    "specversion": _version_problem,
    "time": _time_problem,
    "subject": _text_problem,
    "datacontenttype": _media_problem,
    "dataschema": _schema_problem,
    "data": lambda given: "",
    "data_base64": _base64_problem,
}
