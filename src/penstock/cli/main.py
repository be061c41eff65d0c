"""The command line. Exit codes: see EXIT_CODES, which `penstock --help` shows."""

import os
import sys
from collections.abc import Sequence

import click

from penstock.cli.failure import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_USAGE, exit_code, explain
from penstock.cli.lazy import Entry, LazyGroup
from penstock.kernel.errors import PenstockError

COMMANDS = {
    "up": Entry("penstock.cli.up:up", "Run everything on this machine"),
    "serve": Entry("penstock.cli.programs:serve", "Run the control plane alone"),
    "apihost": Entry("penstock.cli.programs:apihost", "Host APIs of packages alone"),
    "agent": Entry("penstock.cli.programs:agent", "Run an agent alone"),
    "notebooks": Entry("penstock.cli.programs:notebooks", "Run a worker for scripts and notebooks alone"),
    "gateway": Entry("penstock.cli.programs:gateway", "Run an API gateway alone"),
    "invite": Entry("penstock.cli.invite:invite", "Let one more agent register"),
    "login": Entry("penstock.cli.login:login", "Sign in and keep the session"),
    "apply": Entry("penstock.cli.apply:apply", "Apply configuration documents"),
    "get": Entry("penstock.cli.get:get", "Show what there is"),
    "flow": Entry("penstock.cli.flow:flow", "Run, stop and look after flows"),
    "logs": Entry("penstock.cli.logs:logs", "Show what a flow logged"),
    "stream": Entry("penstock.cli.stream:stream", "Show the messages of a stream"),
    "publish": Entry("penstock.cli.publish:publish", "Publish events"),
    "deadletters": Entry("penstock.cli.deadletters:deadletters", "Show, replay and discard undelivered events"),
    "channel": Entry("penstock.cli.channel:channel", "Enable a channel's delivery, replay history to it"),
    "rehandle": Entry("penstock.cli.rehandle:rehandle", "Publish received webhook requests again"),
    "eventing": Entry("penstock.cli.eventing:eventing", "Look after events"),
    "api": Entry("penstock.cli.api:api", "Show, renew and revoke keys of published APIs"),
    "mft": Entry("penstock.cli.mft:mft", "Run file transfers"),
    "engine": Entry("penstock.cli.engine:engine", "Install and list the engines that run flows"),
    "nats-config": Entry("penstock.cli.nats_config:nats_config", "Print the configuration of an external NATS server"),
    "nats-credentials": Entry(
        "penstock.cli.nats_credentials:nats_credentials", "Print a service's credentials for the bus"
    ),
    "completion": Entry("penstock.cli.completion:completion", "Print the completion script of a shell"),
    "version": Entry("penstock.cli.version:version", "Print the version"),
}

HELP = """Penstock, a self-hosted integration platform.

`penstock up` runs all of it on this machine. The other commands talk to the server at PENSTOCK_URL
(http://127.0.0.1:8400), as whoever signed in with `penstock login`, or with PENSTOCK_API_KEY, or with
PENSTOCK_USERNAME and PENSTOCK_PASSWORD.

\b
Exit codes:
  0  done
  1  failed; the message says why
  2  wrong usage or settings
  3  the server cannot be reached
  4  not signed in, or not allowed
"""

cli = LazyGroup("penstock", COMMANDS, HELP)


def run(arguments: Sequence[str]) -> int:
    """Runs one command line; returns the exit code."""
    try:
        result = cli.main(args=list(arguments), prog_name="penstock", standalone_mode=False)
    except click.ClickException as error:
        error.show()
        return EXIT_USAGE if isinstance(error, click.UsageError) else EXIT_FAILED
    except PenstockError as error:
        click.echo(explain(error), err=True)
        return exit_code(error)
    except click.Abort:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has seen enough, as `| head` does; nothing may be written on exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    return result if isinstance(result, int) else 0


def main() -> None:
    """The `penstock` program."""
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
