"""Identifiers: UUIDv7 in the order of their making."""

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import RFC_4122

from penstock.kernel.ids import new_id


def test_an_id_is_a_uuid_of_version_7() -> None:
    made = new_id()
    assert made.version == 7
    assert made.variant == RFC_4122


def test_an_id_begins_with_the_milliseconds_of_its_making() -> None:
    before = time.time_ns() // 1_000_000
    made = new_id()
    after = time.time_ns() // 1_000_000
    # Ids made in a burst before run ahead of the clock by a 4,096th of a millisecond each.
    assert before <= made.int >> 80 <= after + 1


def test_ids_made_one_after_another_ascend() -> None:
    made = [new_id() for _ in range(20_000)]
    assert made == sorted(made)
    assert [str(one) for one in made] == sorted(str(one) for one in made)
    assert len(set(made)) == len(made)


def test_ids_made_in_many_threads_differ_and_ascend_in_each() -> None:
    with ThreadPoolExecutor(8) as threads:
        batches = list(threads.map(lambda _: [new_id() for _ in range(2_000)], range(8)))
    assert all(batch == sorted(batch) for batch in batches)
    assert len({one for batch in batches for one in batch}) == 16_000


def test_ids_differ_in_their_random_part() -> None:
    tails = {new_id().int & (1 << 62) - 1 for _ in range(1_000)}
    assert len(tails) == 1_000
