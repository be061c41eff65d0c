"""In which order files are taken."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from penstock.flow.files.file_store import FoundFile

_KEY = re.compile(r"(?P<reverse>reverse:)?(?P<fold>ignoreCase:)?file:(?P<what>name|onlyname|length|size|modified)")


class _Key(NamedTuple):
    what: str
    reverse: bool
    fold: bool

    def of(self, file: FoundFile) -> Any:
        values = {
            "name": file.name,
            "onlyname": file.path.name,
            "length": file.size,
            "size": file.size,
            "modified": file.modified,
        }
        value = values[self.what]
        return value.lower() if self.fold and isinstance(value, str) else value


class FileOrder(tuple[_Key, ...]):
    """Keys like `file:name`, `reverse:file:modified` or `ignoreCase:file:name`, with semicolons between."""

    __slots__ = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Raises ValueError for a key that is not known."""
        keys = []
        for part in text.split(";"):
            match = _KEY.fullmatch(part.strip())
            if match is None:
                raise ValueError(
                    "must be keys like file:name;reverse:file:modified (of name, onlyname, size, modified)"
                )
            keys.append(_Key(match["what"], match["reverse"] is not None, match["fold"] is not None))
        return cls(keys)

    def __str__(self) -> str:
        return ";".join(
            f"{'reverse:' if key.reverse else ''}{'ignoreCase:' if key.fold else ''}file:{key.what}" for key in self
        )

    def sorted(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        """The files in order; equal ones stay as they are."""
        ordered = list(files)
        for key in reversed(self):
            ordered.sort(key=key.of, reverse=key.reverse)
        return ordered
