"""What rclone counts of a transfer."""

import msgspec


class Stats(msgspec.Struct, frozen=True, rename="camel"):
    """Sizes in bytes, times in seconds, speed in bytes a second. eta: None while it is not known."""

    bytes: int = 0
    checks: int = 0
    deleted_dirs: int = 0
    deletes: int = 0
    elapsed_time: float = 0.0
    errors: int = 0
    eta: float | None = None
    fatal_error: bool = False
    renames: int = 0
    retry_error: bool = False
    speed: float = 0.0
    total_bytes: int = 0
    total_checks: int = 0
    total_transfers: int = 0
    transfer_time: float = 0.0
    transfers: int = 0
