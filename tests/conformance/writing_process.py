"""A process that commits pairs of books as fast as it can and says which were acknowledged, until it is killed.

Run as `python -m tests.conformance.writing_process URL LARGEST`: with LARGEST, no file grows beyond so many bytes until
a line comes in.
"""

import asyncio
import os
import resource
import signal
import sys
from datetime import UTC, datetime

from penstock.kernel.errors import Unavailable
from penstock.store.connect import store_for
from penstock.store.store import Store
from tests.conformance.library import BOOKS, LOANS, book, insert, lend


async def write_pairs(store: Store, writer: int) -> None:
    number = 0
    while True:
        number += 1
        name, now = f"{writer}-{number}", datetime.now(UTC)
        pair = [insert(book(now, f"{name}{half}", shelf="x" * 500), now) for half in "ab"]
        await store.commit([pair[0], lend(now, "ann", id=name), pair[1]])
        say(name)


async def write_until_full(store: Store) -> None:
    """Says `full` once nothing fits, then waits for a line and says whether it works again."""
    number = 0
    try:
        while True:
            number += 1
            now = datetime.now(UTC)
            await store.commit([insert(book(now, str(number), notes={"text": "x" * 20_000}), now)])
            say(str(number))
    except Unavailable as error:
        say(f"full: {error.detail}; {await store.count(BOOKS)} books")
    await asyncio.to_thread(sys.stdin.readline)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    await store.commit([lend(datetime.now(UTC), "ann")])
    say("again")


def say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


async def main(url: str, largest: int | None) -> None:
    store = store_for(url)
    await store.open([BOOKS], [LOANS])
    if largest is None:
        async with asyncio.TaskGroup() as group:
            for writer in range(16):
                group.create_task(write_pairs(store, writer))
    else:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
        await write_until_full(store)
        await store.close()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None))
