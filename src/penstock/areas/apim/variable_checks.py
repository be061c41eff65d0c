"""Variables of versions and subscriptions: plain values that win over the platform's variables."""

from collections.abc import Mapping
from typing import Any

from penstock.kernel.errors import FieldError
from penstock.kernel.names import name_errors

_MOST = 200
_LONGEST = 4096


def variable_errors(variables: Mapping[str, Any]) -> list[FieldError]:
    """What is wrong with the field Variables."""
    errors = []
    if len(variables) > _MOST:
        errors.append(FieldError("Variables", f"must be at most {_MOST}"))
    for name, value in variables.items():
        at = f"Variables.{name}"
        errors += name_errors(at, name)
        if not isinstance(value, str) or len(value) > _LONGEST:
            errors.append(FieldError(at, f"must be a text of at most {_LONGEST} characters"))
    return errors
