"""Magic commands in cells of .dib documents: lines like `#!share --from python x --as y`."""

import re
from collections.abc import Iterator, Mapping
from json import JSONDecoder
from typing import Any

import msgspec

from penstock.engine.documents.document import lines_of
from penstock.kernel.errors import Invalid

_MAGIC = re.compile(r"#!([A-Za-z][\w-]*)[ \t]*(.*?)\s*")
_TOKEN = re.compile(
    r"""[ \t]*(?:
        (?P<reference>@\w+(?:\.\w+)*(?::(?:(?=\{)|"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'{]+))?)
        |"(?P<double>(?:[^"\\]|\\.)*)"
        |'(?P<single>[^']*)'
        |(?P<plain>[^\s"']+)
    )""",
    re.VERBOSE,
)
_REFERENCE = re.compile(r"@(\w+(?:\.\w+)*)(?::(.*))?", re.DOTALL)
_INPUTS = ("input", "password")


class Reference(msgspec.Struct, frozen=True):
    """`@input:...` or `@<kernel>:<name>`. text: as written. source: `input`, `password` or a kernel."""

    text: str
    source: str
    argument: str

    @property
    def asks(self) -> bool:
        """Whether somebody is to give the value."""
        return self.source in _INPUTS

    @property
    def name(self) -> str:
        """What a value that is asked for is called: `@input:city`, `@input:{"saveAs": "city"}`, or by its prompt."""
        plain = "" if self.argument.startswith("{") else self.argument.strip("\"'")
        return str(plain or self._options.get("saveAs") or self._options.get("prompt") or self.source)

    @property
    def hint(self) -> str:
        """What kind of value is asked for, as types of HTML's inputs: `@input:{"type": "date"}`; empty for any."""
        return str(self._options.get("type") or "")

    @property
    def _options(self) -> Mapping[str, Any]:
        if not self.argument.startswith("{"):
            return {}
        try:
            return msgspec.json.decode(self.argument, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise Invalid.one("", f"{self.text} is not understood: {error}") from None


class Magic(msgspec.Struct, frozen=True):
    """options: `--name value`, without dashes; flags are empty. words: what stands alone. content: lines below it."""

    name: str
    line: str
    options: Mapping[str, str | Reference]
    words: tuple[str | Reference, ...]
    content: str = ""

    def text(self, option: str) -> str | None:
        """The option as a text."""
        value = self.options.get(option)
        return value.text if isinstance(value, Reference) else value

    def needed(self, option: str) -> str:
        """Raises Invalid when the option is not there."""
        value = self.text(option)
        if not value:
            raise Invalid.one("", f"'{self.line}' needs --{option}")
        return value

    @property
    def references(self) -> list[Reference]:
        return [value for value in (*self.options.values(), *self.words) if isinstance(value, Reference)]


class Code(msgspec.Struct, frozen=True):
    """Lines for the cell's kernel."""

    text: str


def parts_of(text: str) -> Iterator[Magic | Code]:
    """A cell's text in its order. `#!value` without a value of its own takes the lines below it."""
    code: list[str] = []
    value: Magic | None = None
    for line in lines_of(text):
        magic = parse_magic(line)
        if magic is None:
            code.append(line)
            continue
        yield from _ended(value, code)
        value, code = None, []
        if magic.name == "value" and not _has_value(magic):
            value = magic
        else:
            yield magic
    yield from _ended(value, code)


def parse_magic(line: str) -> Magic | None:
    """None for any other line; `#!/usr/bin/env` is one."""
    match = _MAGIC.fullmatch(line)
    if match is None:
        return None
    options: dict[str, str | Reference] = {}
    words: list[str | Reference] = []
    waiting: str | None = None
    for token in _tokens(match[2]):
        if isinstance(token, str) and token.startswith("--"):
            waiting = token[2:]
            options[waiting] = ""
        elif waiting is not None:
            options[waiting] = token
            waiting = None
        else:
            words.append(token)
    return Magic(match[1].casefold(), line.strip(), options, tuple(words))


def _tokens(text: str) -> Iterator[str | Reference]:
    position = 0
    while match := _TOKEN.match(text, position):
        position = match.end()
        if match["reference"] is not None:
            if match["reference"].endswith(":"):
                position = _end_of_json(text, position)
            written = text[match.start("reference") : position]
            found = _REFERENCE.fullmatch(written)
            assert found is not None
            yield Reference(written, found[1].casefold(), found[2] or "")
        elif match["double"] is not None:
            yield re.sub(r"\\(.)", r"\1", match["double"])
        else:
            yield match["single"] if match["single"] is not None else match["plain"]


def _end_of_json(text: str, position: int) -> int:
    try:
        return JSONDecoder().raw_decode(text, position)[1]
    except (ValueError, RecursionError):
        return len(text)  # which is told as not understood


def _ended(value: Magic | None, lines: list[str]) -> Iterator[Magic | Code]:
    text = "".join(lines)
    if value is not None:
        yield msgspec.structs.replace(value, content=text.strip("\r\n"))
    elif text.strip():
        yield Code(text)


def _has_value(magic: Magic) -> bool:
    return any(option in magic.options for option in ("from-value", "from-file", "from-url"))
