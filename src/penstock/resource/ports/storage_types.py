"""What a storage may be."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from penstock.kernel.errors import FieldError


class StorageTypes(Protocol):
    """What a storage may be. Perhaps nobody provides it; then every type is taken."""

    async def secrets(self, type: str) -> Collection[str]:
        """The names of the variables of this type that are secret."""
        ...

    async def errors(self, type: str, variables: Mapping[str, Any]) -> Sequence[FieldError]:
        """What is wrong, in the fields `Type` and `Variables.NAME`; a text with `{{var:NAME}}` may become anything."""
        ...
