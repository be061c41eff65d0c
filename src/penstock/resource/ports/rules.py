"""Rules in force, for people to read."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Rule:
    """A rule in force, for people to read."""

    topic: str
    text: str


class AccessRules(Protocol):
    """Provided by `identity`."""

    def rules(self) -> Sequence[Rule]:
        """What holds for passwords, tokens, keys and logins."""
        ...


class CodeRules(Protocol):
    """Provided by `interactive`."""

    async def rules(self) -> Sequence[Rule]:
        """How scripts and notebooks are kept apart where they run now."""
        ...
