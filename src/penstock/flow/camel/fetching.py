"""A program of its own that fetches packages, so that the agent need not load the resolver and can end it.

Run as `python -m penstock.flow.camel.fetching` with an Order as JSON on standard input; it answers a Fetched.
"""

import sys
from pathlib import Path

import msgspec

from penstock.flow.camel.coordinate import Coordinate
from penstock.flow.camel.fetch_order import Fetched, Order
from penstock.flow.camel.release import ROOTS, locked
from penstock.flow.camel.repository import Repository
from penstock.kernel.errors import PenstockError


def fetch(order: Order) -> Fetched:
    """Resolves the packages together with the runtime, whose versions hold."""
    present = {coordinate.library for coordinate in locked()}
    try:
        packages = [Coordinate.parse(text) for text in order.packages]
        with Repository(Path(order.folder), order.mirror, locked(), [Path(order.runtime)]) as repository:
            needed = [each for each in repository.resolve([*ROOTS, *packages]) if each.library not in present]
            return Fetched([str(repository.fetch(each)) for each in needed])
    except (PenstockError, ValueError) as error:
        return Fetched(problem=str(error))


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(fetch(msgspec.json.decode(sys.stdin.buffer.read(), type=Order))))
