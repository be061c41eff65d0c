"""`penstock login`."""

import os
import sys

import click

from penstock.cli.connection import connect, url_option


@click.command()
@click.option("--username", default="admin", prompt="User name", help="Who signs in.")
@click.option("--password-stdin", is_flag=True, help="Read the password from standard input.")
@url_option
def login(username: str, password_stdin: bool, url: str | None) -> None:
    """Sign in and keep the session, until two weeks after its last use.

    The password is PENSTOCK_PASSWORD when set, else it is asked for.
    """
    from penstock.client.session import SessionFile, configuration_folder

    password = _password(password_stdin)
    with connect(url) as client:
        session = client.login(username, password)
        sessions = SessionFile(configuration_folder())
        with sessions.locked():
            sessions.put(client.address, session)
        click.echo(f"Signed in as {username} at {client.address}.")


def _password(from_stdin: bool) -> str:
    if from_stdin:
        return sys.stdin.readline().rstrip("\n")
    return os.environ.get("PENSTOCK_PASSWORD") or click.prompt("Password", hide_input=True, type=str)
