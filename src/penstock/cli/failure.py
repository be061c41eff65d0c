"""Errors as text for people, and as exit codes for programs."""

from penstock.cli.text import visible
from penstock.kernel.errors import Forbidden, Invalid, PenstockError, TooManyRequests, Unauthenticated, Unavailable

EXIT_FAILED = 1
EXIT_USAGE = 2
EXIT_UNREACHABLE = 3
EXIT_NOT_ALLOWED = 4
EXIT_INTERRUPTED = 130

UNREACHABLE = "unreachable"


def exit_code(error: PenstockError) -> int:
    """The exit code that tells a program what happened."""
    if error.code == UNREACHABLE:
        return EXIT_UNREACHABLE
    return EXIT_NOT_ALLOWED if isinstance(error, Unauthenticated | Forbidden) else EXIT_FAILED


def explain(error: PenstockError) -> str:
    """What happened and what to do about it."""
    lines = [f"Error: {error.detail}"]
    if isinstance(error, Invalid) and len(error.errors) > 1:
        lines = ["Error: the server refuses this:"]
        lines += [f"  {each.field}: {each.message}" if each.field else f"  {each.message}" for each in error.errors]
    return visible("\n".join([*lines, *(f"  {line}" for line in _advice(error))]))


def _advice(error: PenstockError) -> list[str]:
    if error.code == UNREACHABLE:
        return ["Start it with `penstock up`, or name another server with --url or PENSTOCK_URL."]
    if isinstance(error, Unauthenticated):
        return ["Sign in with `penstock login`, or set PENSTOCK_API_KEY."]
    if isinstance(error, Forbidden):
        return ["Sign in as a user with that role: `penstock login`."]
    if isinstance(error, TooManyRequests | Unavailable):
        return [f"Try again in {error.retry_after} s."]
    return []
