"""Variables that flows name: looked up when used, secrets kept out of what people read."""

import re
from collections.abc import Awaitable, Callable, Mapping
from types import MappingProxyType

import msgspec

from penstock.kernel.errors import PenstockError
from penstock.kernel.names import name_key

_NONE: Mapping[str, str] = MappingProxyType({})
_REFERENCE = re.compile(r"\{\{var:([A-Za-z0-9][A-Za-z0-9._-]{0,127})\}\}", re.ASCII)
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
    """The variables of one engine, and the secrets seen so far, to mask them in texts.

    own: a flow's own ones, which come first; their values may name variables of the platform.
    """

    def __init__(self, resolve: Resolve, own: Mapping[str, str] = _NONE, secrets: set[str] | None = None) -> None:
        self._resolve = resolve
        self._own = {name_key(name): value for name, value in own.items()}
        self._secrets: set[str] = set() if secrets is None else secrets

    def with_own(self, own: Mapping[str, str]) -> "Variables":
        """The variables of one flow, with the same secrets."""
        return Variables(self._resolve, own, self._secrets) if own else self

    async def get(self, name: str) -> Variable:
        """Raises NotFound for an unknown name."""
        variable = await self._found(name)
        if variable.is_secret and variable.value:
            self._secrets.add(variable.value)
        return variable

    async def get_public(self, name: str, use: str) -> Variable:
        """Like `get`; raises SecretExposed, naming `use`, for a secret."""
        variable = await self._found(name)
        if variable.is_secret:
            raise SecretExposed(f"variable '{name}' is a secret and cannot be used in {use}")
        return variable

    async def _found(self, name: str) -> Variable:
        own = self._own.get(name_key(name))
        if own is None:
            return await self._resolve(name)
        named = {each: await self._resolve(each) for each in _REFERENCE.findall(own)}
        self._secrets.update(each.value for each in named.values() if each.is_secret and each.value)
        value = _REFERENCE.sub(lambda match: named[match[1]].value, own)
        return Variable(value, any(each.is_secret for each in named.values()))

    def keep_secret(self, text: str) -> None:
        """Masks the text from now on: a secret that is part of a variable."""
        self._secrets.add(text)

    def masked(self, text: str) -> str:
        """`text` without the secrets that flows have used."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, _MASK)
        return text
