"""`{{var:NAME}}` in configurations: found, and replaced by the variable's value when the configuration is used."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from penstock.kernel.errors import Fault, FieldError

_REFERENCE = re.compile(r"\{\{\s*var:\s*([A-Za-z0-9][A-Za-z0-9._-]{0,127})\s*\}\}", re.ASCII)


def names_in(configuration: Any) -> set[str]:
    """The names of the variables that a JSON value refers to."""
    return {name for text in _texts(configuration) for name in _REFERENCE.findall(text)}


def is_reference(text: str) -> bool:
    """Whether the text is made of references alone, so that it gives nothing away."""
    return bool(_REFERENCE.search(text)) and not _REFERENCE.sub("", text).strip()


def replaced(configuration: Any, value_of: Callable[[str], str]) -> Any:
    """The JSON value with every reference replaced, by what `value_of` answers or raises for the name.

    References stand in texts, and stay texts.
    """
    if isinstance(configuration, str):
        return _REFERENCE.sub(lambda match: value_of(match[1]), configuration)
    if isinstance(configuration, list):
        return [replaced(item, value_of) for item in configuration]
    if isinstance(configuration, dict):
        return {name: replaced(value, value_of) for name, value in configuration.items()}
    return configuration


def without_unknown(errors: Iterable[FieldError], configuration: Any) -> Sequence[FieldError]:
    """The errors without those that a variable's value may mend; that a text stands there is never mended."""
    return [e for e in errors if e.fault is Fault.TYPE or not names_in(_at(configuration, e.field))]


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


def _at(configuration: Any, path: str) -> Any:
    """The value at a path like `signing.secrets[0]`; None when there is none."""
    value = configuration
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", path):
        if name and isinstance(value, dict):
            value = value.get(name)
        elif index and isinstance(value, list) and int(index) < len(value):
            value = value[int(index)]
        else:
            return None
    return value
