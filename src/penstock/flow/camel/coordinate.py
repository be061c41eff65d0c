"""Maven coordinates: what a file in a registry is called."""

import re
from typing import Self

import msgspec

_PART = r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,120}"
_FORM = re.compile(rf"({_PART}):({_PART}):({_PART})(?::({_PART}))?", re.ASCII)


class Coordinate(msgspec.Struct, frozen=True):
    """group:artifact:version, and a classifier where a jar has one. Nothing that passes can leave a folder."""

    group: str
    artifact: str
    version: str
    classifier: str = ""

    @classmethod
    def parse(cls, text: str) -> Self:
        """Reads `group:artifact:version[:classifier]`. Raises ValueError."""
        match = _FORM.fullmatch(text.strip())
        if match is None:
            raise ValueError(f"'{text}' is not a Maven coordinate like org.apache.camel:camel-kafka:4.18.0")
        group, artifact, version, classifier = match.groups()
        return cls(group, artifact, version, classifier or "")

    @property
    def library(self) -> tuple[str, str, str]:
        """What is there once on a class path, in whatever version."""
        return self.group, self.artifact, self.classifier

    @property
    def path(self) -> str:
        """Of the jar, in a repository's folder."""
        suffix = f"-{self.classifier}" if self.classifier else ""
        folder = f"{self.group.replace('.', '/')}/{self.artifact}/{self.version}"
        return f"{folder}/{self.artifact}-{self.version}{suffix}.jar"

    def __str__(self) -> str:
        return ":".join(part for part in (self.group, self.artifact, self.version, self.classifier) if part)
