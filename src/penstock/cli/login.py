"""`penstock login`."""

import os
import sys

import click

from penstock.cli.connection import connect, url_option


@click.command()
@click.option("--username", help="Who signs in; admin unless it is asked for.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@url_option
def login(username: str | None, password_stdin: bool, url: str | None) -> None:
    """Sign in and keep the session, until two weeks after its last use.

    The password is PENSTOCK_PASSWORD when set, else it is asked for.
    """
    from penstock.client.session import SessionFile, configuration_folder

    with connect(url) as client:
        username = username or _username(password_stdin)
        password = _password(password_stdin)
        session = client.login(username, password)
        sessions = SessionFile(configuration_folder())
        with sessions.locked():
            sessions.put(client.address, session)
        click.echo(f"Signed in as {username} at {client.address}.")


def _username(password_from_stdin: bool) -> str:
    if password_from_stdin or not sys.stdin.isatty():
        return "admin"
    return str(click.prompt("User name", default="admin", type=str))


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    if password := os.environ.get("PENSTOCK_PASSWORD"):
        return password
    if not sys.stdin.isatty():
        raise click.UsageError("Without a terminal, give the password with --password-stdin or PENSTOCK_PASSWORD.")
    return str(click.prompt("Password", hide_input=True, type=str))
