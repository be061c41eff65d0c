"""What is written for Java is what Java reads."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.camel.properties import properties

_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}


def _read(text: str) -> dict[str, str]:
    """As Java's documentation says that the format is read."""
    values = {}
    for line in text.split("\n")[:-1]:
        key, place = _part(line, 0, stops="=")
        values[key], _ = _part(line, place + 1, stops="")
    return values


def _part(line: str, place: int, stops: str) -> tuple[str, int]:
    units: list[int] = []
    while place < len(line) and line[place] not in stops:
        char = line[place]
        if char == "\\":
            place += 1
            if line[place] == "u":
                units.append(int(line[place + 1 : place + 5], 16))
                place += 5
                continue
            char = _ESCAPED.get(line[place], line[place])
        units.append(ord(char))
        place += 1
    return b"".join(unit.to_bytes(2, "big") for unit in units).decode("utf-16-be", "surrogatepass"), place


@given(st.dictionaries(st.text(min_size=1), st.text()))
def test_every_value_is_read_as_it_was(values: dict[str, str]) -> None:
    assert _read(properties(values)) == values


def test_a_line_is_never_taken_for_a_comment_or_trimmed() -> None:
    assert properties({"#a b": " c"}) == "\\#a\\ b=\\ c\n"
