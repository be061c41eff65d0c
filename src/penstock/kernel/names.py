"""Names that reach commands, subjects or paths."""

import re

from penstock.kernel.errors import FieldError, Invalid

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*", re.ASCII)
LONGEST = 128
_ALLOWED = "must be 1 to {} of A-Z a-z 0-9 . _ - and begin with a letter or digit"
ALLOWED = _ALLOWED.format(LONGEST)


def name_errors(field: str, value: str | None, longest: int = LONGEST) -> list[FieldError]:
    """What is wrong with `value` as a name; an empty list when nothing is. longest: characters."""
    if value is None or not value:
        return [FieldError(field, "is required")]
    if len(value) <= longest and _NAME.fullmatch(value):
        return []
    return [FieldError(field, _ALLOWED.format(longest))]


def check_name(field: str, value: str | None) -> str:
    """Returns the name. Raises Invalid naming `field`."""
    errors = name_errors(field, value)
    if errors or value is None:
        raise Invalid(errors)
    return value


def name_key(name: str) -> str:
    """The form that names are compared in: without case."""
    return name.casefold()
