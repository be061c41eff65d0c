"""The flow of a scheduled command: its text for a cron expression, a program and arguments."""

from collections.abc import Sequence

import yaml

from penstock.flow.text import written

_DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def scheduled_command(name: str, cron: str, command: str, args: Sequence[str]) -> str:
    """A flow in YAML that runs the command at each due time; an exit value other than 0 counts as failure.

    Program and arguments reach the process exactly as given, except that `{{var:NAME}}` is the variable.
    """
    run = {"executable": written(command), "args": [written(arg) for arg in args], "exitValues": "0"}
    start = {"triggerName": name, "cron": cron}
    route = {
        "id": name,
        "from": {"uri": "quartz", "parameters": start, "steps": [{"to": {"uri": "exec", "parameters": run}}]},
    }
    text: str = yaml.dump(
        [{"route": route}], Dumper=_DUMPER, sort_keys=False, allow_unicode=True, default_flow_style=False, width=110
    )
    return text
