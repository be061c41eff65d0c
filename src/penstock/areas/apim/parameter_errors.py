"""What is wrong with Parameters: their shape, and what they say, told at once."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import msgspec

from penstock.kernel.errors import FieldError

P = TypeVar("P")


def errors_in(
    field: str, read: P | None, problems: Sequence[FieldError], check: Callable[[P], Sequence[FieldError]]
) -> Sequence[FieldError]:
    """read, problems: as `read_leniently` answers them. check: of what was read, its stand-ins passed over."""
    errors = [msgspec.structs.replace(each, field=f"{field}.{each.field}") for each in problems]
    told = {each.field for each in errors}
    return [*errors, *(each for each in (check(read) if read is not None else ()) if each.field not in told)]
