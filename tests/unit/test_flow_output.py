"""The end of what a command writes."""

from hypothesis import given
from hypothesis import strategies as st

from penstock.flow.commands.output import Tail


@given(st.lists(st.binary(max_size=50)), st.integers(1, 40))
def test_the_last_bytes_are_kept_and_all_are_counted(pieces: list[bytes], limit: int) -> None:
    tail = Tail(limit)
    for piece in pieces:
        tail.add(piece)
    everything = b"".join(pieces)
    assert tail.total == len(everything)
    assert tail.dropped == max(0, len(everything) - limit)
    if not tail.dropped:
        assert tail.text() == everything.decode("utf-8", "replace")


@given(st.text(min_size=1), st.integers(1, 20))
def test_the_cut_leaves_no_broken_character(text: str, limit: int) -> None:
    tail = Tail(limit)
    tail.add(text.encode())
    assert text.endswith(tail.text())
