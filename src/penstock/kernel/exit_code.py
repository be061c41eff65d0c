"""How a program of the platform ends, and what it tells whoever started it."""

import sys
from collections.abc import Callable

from penstock.kernel.errors import Invalid, PenstockError


def tell(*lines: str) -> None:
    """To whoever started the program, whatever the log's form or level."""
    sys.stderr.write("\n".join(lines) + "\n")


def exit_code(name: str, run: Callable[[], None]) -> int:
    """Runs the program to its end. 0: it stopped, 2: bad settings, 1: any other PenstockError; standard error tells."""
    try:
        run()
    except Invalid as error:
        problems = [f"  {e.field}: {e.message}" if e.field else f"  {e.message}" for e in error.errors]
        tell(f"{name} cannot start:", *problems)
        return 2
    except PenstockError as error:
        tell(f"{name} cannot start: {error.detail}")
        return 1
    return 0
