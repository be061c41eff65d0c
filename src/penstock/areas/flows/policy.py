"""What installations may set about flows."""

from dataclasses import dataclass


@dataclass(frozen=True)
class FlowPolicy:
    """How much one answer to an agent holds.

    digest_entries: names and stamps. work_items: flows; work_bytes: of flows, far below what the bus takes (8 MiB).
    """

    digest_entries: int = 2000
    work_items: int = 200
    work_bytes: int = 2 * 1024 * 1024
