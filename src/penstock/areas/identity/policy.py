"""What installations may set about identity."""

from dataclasses import dataclass
from datetime import timedelta


@dataclass(frozen=True)
class IdentityPolicy:
    """Lifetimes and limits.

    refresh_grace: how long after its use a refresh token still gets the same answer, should that have been lost.
    free_attempts, free_attempts_per_address: failed logins before the waits begin; each further one doubles the wait.
    longest_wait: the longest of these waits; failures are forgotten when none followed for as long.
    hash_memory: KiB; hash_passes; hash_at_once: how many passwords are hashed at the same time on a server.
    waiting_logins: how many more may wait for that before logins are refused for a moment.
    """

    access_token: timedelta = timedelta(minutes=15)
    refresh_token: timedelta = timedelta(days=14)
    refresh_grace: timedelta = timedelta(seconds=30)
    free_attempts: int = 10
    free_attempts_per_address: int = 50
    longest_wait: timedelta = timedelta(minutes=15)
    hash_memory: int = 19 * 1024
    hash_passes: int = 2
    hash_at_once: int = 2
    waiting_logins: int = 64
    api_keys_per_user: int = 100
