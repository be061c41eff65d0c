"""What installations may set about the entity store."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class EntityStorePolicy:
    """None is no limit. max_age: values not written anew that long go. max_bytes: a full store takes no more."""

    max_age: timedelta | None = None
    max_bytes: int | None = None
