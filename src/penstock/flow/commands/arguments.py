"""The arguments of a command: a list is taken exactly, one text is split as Camel's exec does."""

from typing import Self

from penstock.flow.text import Text


class Arguments(tuple[Text, ...]):
    """Arguments in order, each of which may name variables."""

    __slots__ = ()

    takes_variables = True

    @classmethod
    def parse(cls, text: str) -> Self:
        """Splits at blanks: `"a b"` is one argument, `""a b""` one with quotes around it. Raises ValueError."""
        return cls(Text.parse(token) for token in _split(text))

    @classmethod
    def parse_all(cls, texts: list[str]) -> Self:
        """Each text is one argument, whatever is in it."""
        return cls(Text.parse(text) for text in texts)


def _split(text: str) -> list[str]:
    tokens: list[str] = []
    rest = text.strip()
    while rest:
        token, rest = _quoted(rest) if rest[0] == '"' else _plain(rest)
        tokens.append(token)
        rest = rest.lstrip(" ")
    return tokens


def _plain(text: str) -> tuple[str, str]:
    end = min((at for at in (text.find(" "), text.find('"')) if at >= 0), default=len(text))
    return text[:end], text[end:]


def _quoted(text: str) -> tuple[str, str]:
    """The argument at the start of `text`, which begins with a quote, and what follows it."""
    marks = '""' if text.startswith('""') else '"'
    end = text.find('"', len(marks))
    if end <= len(marks) - 1 or end == len(marks) or text[end : end + len(marks)] != marks:
        raise ValueError('has a quote without its counterpart: write "a b" for one argument, ""a b"" to keep quotes')
    inner = text[len(marks) : end]
    return (f'"{inner}"' if marks == '""' else inner), text[end + len(marks) :]
