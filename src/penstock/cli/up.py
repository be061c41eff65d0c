"""`penstock up`: everything on one machine. Light, because it stays as long as the installation runs."""

import os
from importlib.metadata import version
from pathlib import Path

import click

from penstock.cli.child import Child
from penstock.cli.failure import EXIT_FAILED
from penstock.cli.first_start import FirstStart
from penstock.cli.folder_lock import folder_lock
from penstock.cli.installation import Installation, user_environment
from penstock.cli.local_gateway import LocalGateway
from penstock.cli.log_file import LogFile
from penstock.cli.readiness import Readiness
from penstock.cli.supervisor import StartFailed, Stopped, Supervisor
from penstock.cli.wakeup import Wakeup
from penstock.kernel.errors import naming_files


@click.command()
def up() -> int:
    """Run everything on this machine: control plane, bus, store and an agent; a gateway once an API is published.

    Ctrl-C stops all of it. Settings are environment variables: PENSTOCK_DATA is the folder that keeps everything
    (.penstock), PENSTOCK_PORT the port (8400), PENSTOCK_ADMIN_PASSWORD the first Admin's password (made when it is
    not set); settings of the agent begin with PENSTOCK_AGENT_, those of the gateway with PENSTOCK_GATEWAY_.

    While PENSTOCK_HOST is a loopback address, as it is by default, events may go to private and loopback addresses.
    PENSTOCK_ALLOW_PRIVATE_ADDRESSES=false and PENSTOCK_AGENT_ALLOW_PRIVATE_ADDRESSES=false forbid it.
    """
    installation = Installation.of(os.environ)
    with folder_lock(installation.folder, installation.address):
        installation.check_port()
        wakeup = Wakeup()
        with wakeup.signals():
            with naming_files():
                run = _Run(installation, wakeup)
            return run.run()


class _Run:
    """One run of the installation."""

    def __init__(self, installation: Installation, wakeup: Wakeup) -> None:
        self._installation = installation
        self._supervisor = Supervisor(wakeup, _tell)
        self._first = FirstStart(installation.folder)
        self._log_folder = installation.folder / "logs"
        self._server = Child("server", ["penstock.cli.main", "serve"], self._server_environment, self._log("server"))
        self._agent = Child("agent", ["penstock.cli.main", "agent"], self._agent_environment, self._log("agent"))
        self._gateway = LocalGateway(installation, self._supervisor, self._log, _tell)

    def run(self) -> int:
        _tell(f"Penstock {version('penstock')}, data in {self._installation.folder}")
        try:
            self._start()
            self._supervisor.run(self._gateway.look)
        except StartFailed as failure:
            _tell(f"Penstock does not start: {failure}.")
            for line in _reasons(failure.child):
                _tell(f"  {line}")
            return EXIT_FAILED
        except Stopped:
            _tell("Stopping ...")
        finally:
            self._supervisor.stop()
        _tell("Stopped.")
        return 0

    def _start(self) -> None:
        self._gateway.forget()
        _tell("Starting the server ...")
        readiness = Readiness(self._installation.near_host, self._installation.port, _tell)
        self._supervisor.keep(self._server, readiness)
        _tell("Starting the agent ...")
        self._supervisor.keep(self._agent, lambda: self._installation.agent_is_known)
        if self._first.pending:
            self._welcome()
        else:
            _tell(f"\nRunning at {self._installation.address}, with everything as it was.")
        _tell(f"Logs are in {self._log_folder}. Ctrl-C stops everything.")

    def _welcome(self) -> None:
        # A program of its own, so that what it needs is gone from memory afterwards.
        command = ["penstock.cli.welcome", str(self._first.password_file)]
        environment = user_environment(self._installation.address, os.environ)
        welcome = Child("welcome", command, lambda: environment, log=None)
        welcome.start()
        try:
            self._supervisor.wait(lambda: not welcome.running)
        finally:
            welcome.kill()
        if welcome.exit_code == 0:
            self._first.finish()
        else:
            _tell("The next start shows the way in again.")

    def _server_environment(self) -> dict[str, str]:
        return self._installation.server_environment(os.environ, self._first.password_file)

    def _agent_environment(self) -> dict[str, str]:
        return self._installation.agent_environment(os.environ)

    def _log(self, name: str) -> LogFile:
        return LogFile(Path(self._log_folder) / f"{name}.log")


def _reasons(child: Child) -> list[str]:
    """Why it ended: what it said to people, else the end of its log."""
    lines = child.log.last_lines() if child.log else []
    said = [number for number, line in enumerate(lines) if line.startswith("Penstock cannot start")]
    return lines[said[-1] :] if said else lines


def _tell(text: str) -> None:
    click.echo(text)
