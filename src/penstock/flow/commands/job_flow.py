"""The flow of a job that runs when it is due."""

from collections.abc import Mapping, Sequence

from penstock.flow.commands.scheduled_command import scheduled
from penstock.flow.text import written
from penstock.kernel.wire import encode


def job_flow(
    name: str,
    cron: str,
    executable: str,
    arguments: Sequence[str],
    environment: Mapping[str, str],
    package: str | None,
) -> str:
    """A flow in YAML; see components.webjob. `{{var:NAME}}` in the texts is the variable, all else as it is given."""
    run = {
        "executable": written(executable),
        "args": [written(each) for each in arguments],
        "environment": encode({key: written(value) for key, value in environment.items()}).decode(),
        "exitValues": "0",
    }
    if package:
        run["package"] = package
    return scheduled(name, cron, "webjob", run)
