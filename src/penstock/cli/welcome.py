"""The end of the first start: shows the way in, applies the example and waits for its first run."""

import os
import sys
import time
from importlib.resources import files
from pathlib import Path

import click
import msgspec

from penstock.client.client import Client
from penstock.client.model import ScheduleEvent
from penstock.client.session import SessionFile, configuration_folder
from penstock.client.target import Target
from penstock.kernel.errors import Invalid, PenstockError, Unauthenticated

STREAM = "schedule-hello"
_PATIENCE_SECONDS = 60.0
_POLL_SECONDS = 0.2
_ENOUGH = 100
_ONLINE = 1

_NEXT = """
What next:
  penstock get agents                        the agent that runs here
  penstock stream schedule-hello --follow    the example's runs as they come
  penstock apply -f FILE                     documents of your own; examples/ has some
  {address}/docs                 the API, to read and try out
"""


def main(password_file: Path) -> int:
    """Reads PENSTOCK_URL, PENSTOCK_USERNAME and PENSTOCK_PASSWORD; without the last, the password of the file."""
    target = Target.of(os.environ)
    generated = password_file.read_text() if password_file.exists() and not target.password else None
    with Client.connect(target) as client:
        try:
            session = client.login(target.username, generated or target.password)
        except (Unauthenticated, Invalid):
            click.echo("There are users already, so no first one was made; sign in with `penstock login`.")
            return 0
        except PenstockError as error:
            click.echo(f"Nobody can sign in yet: {error.detail}")
            return 1
        _show_way_in(target, generated)
        sessions = SessionFile(configuration_folder())
        with sessions.locked():
            sessions.put(client.address, session)
        try:
            _show_example(client)
        except PenstockError as error:
            click.echo(f"The example does not run: {error.detail}")
        click.echo(_NEXT.format(address=client.address))
    return 0


def _show_way_in(target: Target, generated: str | None) -> None:
    password = f"{generated}    (shown only now)" if generated else "as PENSTOCK_ADMIN_PASSWORD says"
    click.echo(f"\n  Address    {target.address}\n  User name  {target.username}\n  Password   {password}\n")
    click.echo("You are signed in on this machine: the `penstock` commands just work.\n")


def _show_example(client: Client) -> None:
    _await_agent(client)
    click.echo("Applying the example, a schedule that runs a command every five seconds ...")
    client.apply((files("penstock.cli.examples") / "schedule.yaml").read_text())
    run = _first_run(client)
    if run is None or run.finished is None:
        click.echo("It has not run yet; `penstock get agents` and the logs may tell why.")
        return
    when = run.finished.astimezone().strftime("%H:%M:%S")
    click.echo(f"Its first run, at {when}: {(run.error or run.output or '').strip()}")


def _await_agent(client: Client) -> None:
    """Gives the local agent time to be there, so that the first run is not missed."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until:
        if any(agent["CurrentStatusEnum"] == _ONLINE for agent in client.read("/agents")):
            return
        time.sleep(_POLL_SECONDS)


def _first_run(client: Client) -> ScheduleEvent | None:
    """The first run that has finished; None when there is none in time."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while time.monotonic() < until:
        for message in client.messages(STREAM, _ENOUGH):
            run = msgspec.json.decode(message.data, type=ScheduleEvent)
            if run.finished is not None:
                return run
        time.sleep(_POLL_SECONDS)
    return None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
