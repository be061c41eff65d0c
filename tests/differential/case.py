"""One flow that both engines run, with what is sent to it."""

from pathlib import Path
from typing import Self

import msgspec
import yaml

FLOWS = Path(__file__).parent / "flows"
_MARK = "\n---\n"


class Request(msgspec.Struct, frozen=True):
    """What is sent. Without `post` the flow starts by itself."""

    post: str = ""
    headers: dict[str, str] = {}
    query: str = ""
    method: str = "POST"


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """about: what it shows. files: there before the flow starts, by name. ignore: headers that may differ.

    unordered: whether log lines may come in any order. differs: why the engines do not do the same, documented.
    """

    name: str
    about: str
    source: str
    send: list[Request] = []
    files: dict[str, str] = {}
    ignore: list[str] = []
    unordered: bool = False
    differs: str = ""

    @classmethod
    def read(cls, file: Path) -> Self:
        head, _, source = file.read_text().partition(_MARK)
        fields = yaml.safe_load(head)
        return msgspec.convert({**fields, "name": file.stem, "source": source}, type=cls)


def cases() -> list[Case]:
    """All, by name. A flow that is in a file NAME has a route NAME, which serves the path /NAME."""
    return [Case.read(file) for file in sorted(FLOWS.glob("*.yaml"))]
