"""The specification of a service: which names it has, and the flow that it becomes."""

import re

_PLACEHOLDER = re.compile(r"(?<!\\)\{\{\s*([A-Za-z0-9][A-Za-z0-9._-]{0,127})\s*\}\}", re.ASCII)


def names_of(specification: str) -> set[str]:
    """The names that `{{NAME}}` stands for in it."""
    return set(_PLACEHOLDER.findall(specification))


def as_flow(specification: str) -> str:
    """The text of a flow whose own variables have those names: values never become part of the text."""
    return _PLACEHOLDER.sub(lambda match: "{{var:" + match[1] + "}}", specification)
