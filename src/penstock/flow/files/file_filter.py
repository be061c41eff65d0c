"""Which files of a folder a `file` consumer takes."""

import re
from functools import lru_cache
from typing import Self

import msgspec


class NamePattern:
    """A regular expression for whole file names, without case."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self._pattern = pattern

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError when it is none."""
        try:
            return cls(re.compile(text, re.IGNORECASE))
        except re.error as error:
            raise ValueError(f"must be a regular expression: {error}") from None

    def __str__(self) -> str:
        return self._pattern.pattern

    def matches(self, name: str) -> bool:
        return self._pattern.fullmatch(name) is not None


class AntPatterns(tuple[str, ...]):
    """Patterns for relative paths, with commas between: `*` within a folder, `**` across folders, `?` one character."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        return cls(pattern.strip() for pattern in text.split(",") if pattern.strip())

    def __str__(self) -> str:
        return ",".join(self)

    def match(self, path: str) -> bool:
        return any(_ant(pattern).fullmatch(path) for pattern in self)


class FileFilter(msgspec.Struct, frozen=True):
    """Each is None when it does not restrict."""

    include: NamePattern | None = None
    exclude: NamePattern | None = None
    ant_include: AntPatterns | None = None
    ant_exclude: AntPatterns | None = None

    def takes(self, path: str) -> bool:
        """path: relative to the starting folder, with `/`. Hidden files and lock files are never taken."""
        name = path.rpartition("/")[2]
        if name.startswith(".") or name.endswith(".camelLock"):
            return False
        if (self.exclude and self.exclude.matches(name)) or (self.ant_exclude and self.ant_exclude.match(path)):
            return False
        return (self.include is None or self.include.matches(name)) and (
            self.ant_include is None or self.ant_include.match(path)
        )


@lru_cache(256)
def _ant(pattern: str) -> re.Pattern[str]:
    parts = re.split(r"(\*\*/|/\*\*$|\*\*|\*|\?)", pattern)
    forms = {"**/": "(?:.*/)?", "/**": "(?:/.*)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(forms.get(part, re.escape(part)) for part in parts))
