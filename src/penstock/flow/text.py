"""Texts that may name variables: `{{var:NAME}}` is replaced when the text is used."""

import re
from typing import Self

from penstock.flow.variables import Variables

# An even number of backslashes before {{ leaves the braces in force, an odd number makes them plain text.
_BRACES = re.compile(r"(\\*)\{\{(?:var:([A-Za-z0-9][A-Za-z0-9._-]{0,127})\}\})?", re.ASCII)


class Reference(str):
    """The name of a variable inside a Text."""

    __slots__ = ()


class Text:
    """A text with variables in it.

    `{{var:NAME}}` stands for the variable; `\\{{` is a plain `{{`; other `{{` are refused.
    """

    __slots__ = ("parts",)

    takes_variables = True

    def __init__(self, parts: tuple[str, ...]) -> None:
        self.parts = parts

    @classmethod
    def parse(cls, source: str) -> Self:
        """Reads the written form. Raises ValueError for a placeholder of another kind."""
        if "{{" not in source:
            return cls((source,) if source else ())
        parts: list[str] = []
        position = 0
        for match in _BRACES.finditer(source):
            slashes, name = match[1], match[2]
            parts.append(source[position : match.start()] + "\\" * (len(slashes) // 2))
            position = match.end()
            if len(slashes) % 2:
                parts.append(source[match.start() + len(slashes) : position])
            elif name is None:
                raise ValueError(
                    f"placeholder '{_excerpt(source, match.end() - 2)}' is not known: "
                    "write {{var:NAME}} for a variable, \\{{ for plain braces"
                )
            else:
                parts.append(Reference(name))
        parts.append(source[position:])
        return cls(_joined(parts))

    @property
    def literal(self) -> str | None:
        """The text when no variable is in it, else None."""
        if not self.parts:
            return ""
        return self.parts[0] if len(self.parts) == 1 and type(self.parts[0]) is str else None

    @property
    def references(self) -> tuple[str, ...]:
        return tuple(part for part in self.parts if isinstance(part, Reference))

    def __str__(self) -> str:
        """The text with the variables' names: fit to be shown."""
        return "".join(f"{{{{var:{part}}}}}" if isinstance(part, Reference) else part for part in self.parts)

    async def resolve(self, variables: Variables) -> str:
        """The text with every variable's value. Raises NotFound for a variable that does not exist."""
        literal = self.literal
        if literal is not None:
            return literal
        return "".join([(await variables.get(p)).value if isinstance(p, Reference) else p for p in self.parts])

    async def resolve_public(self, variables: Variables, use: str) -> str:
        """Like `resolve`; raises SecretExposed, naming `use`, when a variable is a secret."""
        literal = self.literal
        if literal is not None:
            return literal
        return "".join(
            [(await variables.get_public(p, use)).value if isinstance(p, Reference) else p for p in self.parts]
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Text) and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.parts)

    def __repr__(self) -> str:
        return f"Text({self.parts!r})"


def written(plain: str) -> str:
    """The form that Text.parse reads as exactly `plain`, with each `{{var:NAME}}` in force as a variable."""

    def escaped(match: re.Match[str]) -> str:
        slashes, name = match[1], match[2]
        braces = match[0][len(slashes) :]
        return slashes * 2 + (braces if name else "\\" + braces)

    return _BRACES.sub(escaped, plain)


def _joined(parts: list[str]) -> tuple[str, ...]:
    """Neighbouring plain texts as one, empty ones gone."""
    joined: list[str] = []
    for part in parts:
        if not part:
            continue
        if joined and type(part) is str and type(joined[-1]) is str:
            joined[-1] += part
        else:
            joined.append(part)
    return tuple(joined)


def _excerpt(source: str, start: int) -> str:
    end = source.find("}}", start)
    return source[start : end + 2] if 0 <= end - start <= 60 else source[start : start + 20]
