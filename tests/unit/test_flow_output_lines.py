"""What a command writes, cut into lines and bounded."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.commands.output_lines import BoundedLines, CutLines


class Heard:
    """Takes lines."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.ended = False

    def line(self, stream: str, text: str) -> None:
        self.lines.append((stream, text))

    def finished(self) -> None:
        self.ended = True


def cut(*pieces: bytes) -> list[str]:
    heard = Heard()
    lines = CutLines(heard, "stdout")
    for piece in pieces:
        lines.add(piece)
    lines.finished()
    assert {stream for stream, _ in heard.lines} <= {"stdout"}
    return [text for _, text in heard.lines]


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=5))
def test_lines_are_the_same_however_they_come(whole: bytes, places: list[int]) -> None:
    marks = [0, *sorted(places), len(whole)]
    pieces = [whole[start:end] for start, end in pairwise(marks)]
    assert cut(*pieces) == cut(whole)


@given(st.lists(st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"])), max_size=5))
def test_each_line_is_told_once(lines: list[str]) -> None:
    assert cut("".join(f"{line}\n" for line in lines).encode()) == lines


def test_a_line_without_end_is_told_in_pieces_of_bounded_length() -> None:
    told = cut(b"x" * 25_000, b"y" * 6_000, b"\nend")
    assert "".join(told) == "x" * 25_000 + "y" * 6_000 + "end"
    assert max(len(text) for text in told) == 10_000
    assert told[-1] == "end"


def test_what_nobody_wants_is_not_kept() -> None:
    lines = CutLines(None, "stdout")
    lines.add(b"a\nb")
    lines.finished()


class TestBounds:
    def told(self, *times: float) -> list[str]:
        """What gets through of one line at each of the times, in seconds."""
        told: list[str] = []
        at = 0.0
        bounded = BoundedLines(lambda stream, text: told.append(text), now=lambda: at)
        for at in times:  # noqa: B007 - read by `now`
            bounded.line("stdout", "line")
        bounded.finished()
        return told

    def test_a_thousand_lines_pass_at_once_and_the_rest_is_counted(self) -> None:
        told = self.told(*([0.0] * 1500))
        assert told == ["line"] * 1000 + ["500 lines were left out: more than 100 a second"]

    def test_there_is_room_again_after_a_while_and_what_was_left_out_is_told_first(self) -> None:
        told = self.told(*([0.0] * 1002), 1.0)
        assert told[1000:] == ["2 lines were left out: more than 100 a second", "line"]

    @given(st.lists(st.floats(0, 0.01), max_size=50))
    def test_nothing_is_left_out_of_what_is_slow_enough(self, pauses: list[float]) -> None:
        assert self.told(*pauses) == ["line"] * len(pauses)
