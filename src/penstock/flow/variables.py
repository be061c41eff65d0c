"""Variables that flows name: looked up when used, secrets kept out of what people read."""

from collections.abc import Awaitable, Callable

import msgspec

from penstock.kernel.errors import PenstockError

_MASK = "******"


class Variable(msgspec.Struct, frozen=True):
    """A variable's value; a secret one must not reach logs, events or process arguments."""

    value: str
    is_secret: bool = False

    def __repr__(self) -> str:
        return f"Variable({_MASK if self.is_secret else self.value!r})"


Resolve = Callable[[str], Awaitable[Variable]]
"""Answers the variable of a name; raises NotFound when there is none."""


class SecretExposed(PenstockError):
    """A secret variable is used where other people could read it."""

    code = "secret-exposed"
    title = "A secret cannot be used here"


class Variables:
    """The variables of one engine, and the secrets seen so far, to mask them in texts."""

    def __init__(self, resolve: Resolve) -> None:
        self._resolve = resolve
        self._secrets: set[str] = set()

    async def get(self, name: str) -> Variable:
        """Raises NotFound for an unknown name."""
        variable = await self._resolve(name)
        if variable.is_secret and variable.value:
            self._secrets.add(variable.value)
        return variable

    async def get_public(self, name: str, use: str) -> Variable:
        """Like `get`; raises SecretExposed, naming `use`, for a secret."""
        variable = await self._resolve(name)
        if variable.is_secret:
            raise SecretExposed(f"variable '{name}' is a secret and cannot be used in {use}")
        return variable

    def masked(self, text: str) -> str:
        """`text` without the secrets that flows have used."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, _MASK)
        return text
