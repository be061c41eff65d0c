"""Random bytes fetched in advance: as many as asked for, and none twice."""

import os
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from penstock.kernel.entropy import random_bytes


@given(st.integers(0, 5000))
def test_as_many_bytes_come_as_are_asked_for(count: int) -> None:
    assert len(random_bytes(count)) == count


def test_no_bytes_come_twice_whichever_thread_asks() -> None:
    with ThreadPoolExecutor(8) as threads:
        batches = list(threads.map(lambda _: [random_bytes(16) for _ in range(2_000)], range(8)))
    assert len({each for batch in batches for each in batch}) == 16_000


def test_a_forked_child_gets_others_than_its_parent() -> None:
    random_bytes(8)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writing, random_bytes(64))
        os._exit(0)
    os.waitpid(child, 0)
    of_child = os.read(reading, 64)
    os.close(reading)
    os.close(writing)
    of_parent = [random_bytes(8) for _ in range(1_000)]
    assert not {of_child[start : start + 8] for start in range(0, 64, 8)} & {*of_parent}
