"""What runs show: cleaned tracebacks, outputs put together, the one that answers."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.engine.message import Alive, Finished, Frame, FrameReader, FrameWriter, Made, Produced
from penstock.engine.output import ERROR, JSON, STDERR, STDOUT, TEXT, Output, cleaned, error, from_message, stream
from penstock.engine.result import Results, RunFailed, rendered, value_of
from penstock.kernel.errors import Unavailable

frames = st.one_of(
    st.builds(Alive),
    st.builds(Finished, st.floats(0, 1000), st.none() | st.text()),
    st.builds(Made, st.text(), st.text(), st.integers(0, 2**40), st.none() | st.binary()),
    st.text().map(lambda text: Produced(stream("stdout", text))),
)


def results(*outputs: Output, error: str | None = None) -> Results:
    found = Results()
    for output in outputs:
        found.take(Produced(output))
    found.take(Finished(1.0, error))
    return found


@given(st.lists(frames))
def test_frames_arrive_as_they_were_sent(sent: list[Frame]) -> None:
    writer, reader = FrameWriter(), FrameReader()
    pieces = [piece for frame in sent for piece in writer.pieces(frame)]
    assert [frame for piece in pieces if (frame := reader.read(piece)) is not None] == sent


def test_a_large_frame_goes_in_pieces_that_the_bus_takes() -> None:
    frame = Made("a", "text/plain", 3_000_000, b"x" * 3_000_000)
    pieces = list(FrameWriter().pieces(frame))
    assert max(map(len, pieces)) < 500_000
    reader = FrameReader()
    assert [reader.read(piece) for piece in pieces][-1] == frame


def test_a_lost_piece_is_noticed() -> None:
    writer, reader = FrameWriter(), FrameReader()
    lost = list(writer.pieces(Alive()))
    following = list(writer.pieces(Alive()))
    assert lost != following
    with pytest.raises(Unavailable):
        reader.read(following[0])


def test_a_traceback_shows_the_code_and_no_machinery() -> None:
    trace = [
        "\x1b[31mTraceback (most recent call last):\x1b[39m\n",
        "  Cell In[1], line 2\n    load()\n",
        "  File /srv/venv/lib/python3.11/site-packages/IPython/core/interactiveshell.py:339 in _modified_open\n    x\n",
        "  File /srv/venv/lib/python3.11/site-packages/pandas/io.py:7 in read\n    y\n",
        "ValueError: bad\n",
    ]
    assert cleaned(trace) == (
        "Traceback (most recent call last):\n  Cell In[1], line 2\n    load()\n"
        "  File pandas/io.py:7 in read\n    y\nValueError: bad"
    )


def test_texts_of_one_stream_become_one_output() -> None:
    found = results(stream("stdout", "a"), stream("stdout", "b"), stream("stderr", "c"), stream("stdout", "d"))
    assert [dict(output.data) for output in found.outputs] == [
        {STDOUT: "ab", TEXT: "ab"},
        {STDERR: "c", TEXT: "c"},
        {STDOUT: "d", TEXT: "d"},
    ]


def test_a_display_that_is_updated_is_shown_once() -> None:
    first = Output(kind="display", data={TEXT: "1 %"}, display="bar")
    found = results(first, stream("stdout", "x"), msgspec.structs.replace(first, data={TEXT: "100 %"}))
    assert [output.data[TEXT] for output in found.outputs] == ["100 %", "x"]


RESULT = Output(kind="result", data={TEXT: "{'a': 1}", JSON: {"a": 1}})
IMAGE = Output(kind="display", data={TEXT: "<Figure>", "image/png": "iVBORw=="})


@pytest.mark.parametrize(
    ("outputs", "preferred", "media_type", "body"),
    [
        ([stream("stdout", "x"), RESULT], None, JSON, b'{"a":1}'),
        ([RESULT], TEXT, TEXT, b"{'a': 1}"),
        ([RESULT], "image/png", JSON, b'{"a":1}'),
        ([RESULT, IMAGE], None, JSON, b'{"a":1}'),
        ([IMAGE], None, "image/png", b"\x89PNG"),
        ([stream("stdout", "x"), stream("stderr", "y")], None, TEXT, b"x"),
        ([], None, TEXT, b""),
        ([Output(kind="result", data={TEXT: "'é'", JSON: "é"})], TEXT, TEXT, "é".encode()),
        ([Output(kind="result", data={TEXT: "'é'", JSON: "é"})], None, JSON, '"é"'.encode()),
    ],
)
def test_the_answer_is_the_last_result_in_the_wanted_type(
    outputs: list[Output], preferred: str | None, media_type: str, body: bytes
) -> None:
    answer = results(*outputs).answer(preferred)
    assert (answer.media_type, answer.body) == (media_type, body)


def test_a_failed_run_answers_its_traceback() -> None:
    with pytest.raises(RunFailed, match="line 1"):
        results(RESULT, error("ValueError", "bad", "Traceback, line 1"), error="ValueError: bad").answer(None)


def test_an_error_is_a_value_with_name_message_and_stack() -> None:
    shown = error("ValueError", "bad", "trace")
    assert value_of(shown) == {"name": "ValueError", "message": "bad", "stack": "trace"}
    assert rendered(shown) == rendered(shown, JSON)
    assert (rendered(shown).media_type, rendered(shown).text) == (ERROR, "trace")


@pytest.mark.parametrize("kind", ["status", "clear_output", "comm_open", "anything"])
def test_other_messages_show_nothing(kind: str) -> None:
    assert from_message(kind, {"data": {TEXT: "x"}}) is None


def test_a_message_without_data_is_an_empty_output() -> None:
    shown = from_message("display_data", {"data": None})
    assert shown is not None
    assert shown.size == 0
