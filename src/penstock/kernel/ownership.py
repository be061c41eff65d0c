"""Whether a folder that holds keys is safe from other users of the machine."""

import os
import stat


def exposure(status: os.stat_result, user: int) -> str | None:
    """Why others could change what the folder holds; None when they cannot. user: the id of the one who uses it."""
    if status.st_uid not in (user, 0):
        return "belongs to another user"
    if status.st_mode & stat.S_IWOTH:
        return "may be written by everybody; `chmod o-w` ends that"
    return None
