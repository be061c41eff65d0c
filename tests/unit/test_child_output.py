"""Reading what a child process writes."""

import asyncio

from penstock.kernel.child_output import lines


async def test_lines_that_are_too_long_are_left_out() -> None:
    output = asyncio.StreamReader(limit=16)
    output.feed_data(b"first\n" + b"x" * 40 + b"\nlast\nunended")
    output.feed_eof()
    assert [line async for line in lines(output)] == [b"first\n", b"last\n", b"unended"]


async def test_output_that_is_not_read_has_no_lines() -> None:
    assert [line async for line in lines(None)] == []
