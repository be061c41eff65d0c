"""Core systems, as other areas see them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from uuid import UUID


@dataclass(frozen=True)
class KnownCoreSystem:
    """A core system as other areas see it. is_storage: its category is `storage`.

    e_tag differs whenever it changes. shown: its variables, secrets masked. variables: with the secrets, and
    `{{var:NAME}}` as it was written.
    """

    id: UUID
    name: str
    e_tag: str
    title: str | None
    description: str | None
    category: str | None
    type: str | None
    is_storage: bool
    shown: Mapping[str, Any]
    variables: Mapping[str, Any]


class CoreSystems(Protocol):
    """Provided by `coresystems`; its changes are told as those of the collection `core_systems`."""

    async def known(self, name: str) -> KnownCoreSystem | None:
        """The core system of this name, compared without case. Raises SecretUnreadable."""
        ...
