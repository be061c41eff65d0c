"""The flow of a scheduled command: its text for a cron expression, a program and arguments."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml

from penstock.flow.text import written

_WIDTH = 2**30  # no line is folded


class _Dumper(getattr(yaml, "CSafeDumper", yaml.SafeDumper)):  # type: ignore[misc]
    """Quotes what is not plainly visible: PyYAML writes some line breaks so that they read as others."""


def _quoted(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None if text.isprintable() else '"'
    node: yaml.ScalarNode = dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)
    return node


_Dumper.add_representer(str, _quoted)


def scheduled_command(name: str, cron: str, command: str, args: Sequence[str]) -> str:
    """A flow in YAML that runs the command at each due time; an exit value other than 0 counts as failure.

    Program and arguments reach the process exactly as given, except that `{{var:NAME}}` is the variable.
    """
    run = {"executable": written(command), "args": [written(arg) for arg in args], "exitValues": "0"}
    return scheduled(name, cron, "exec", run)


def scheduled(name: str, cron: str, component: str, parameters: Mapping[str, Any]) -> str:
    """A flow in YAML that hands an exchange to a component at each due time."""
    start = {"triggerName": name, "cron": cron}
    to = {"to": {"uri": component, "parameters": dict(parameters)}}
    route = {"id": name, "from": {"uri": "quartz", "parameters": start, "steps": [to]}}
    text: str = yaml.dump(
        [{"route": route}], Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=_WIDTH
    )
    return text
