"""`penstock invite`."""

import click

from penstock.cli.connection import connect, url_option


@click.command()
@click.argument("pool", default="default")
@url_option
def invite(pool: str, url: str | None) -> None:
    """Let one more agent register, into POOL.

    Prints the single-use token, good for 24 hours, and how to start the agent with it. Needs the role Admin.
    """
    with connect(url) as client:
        invitation = client.invite(pool)
    click.echo(invitation.token)
    click.echo(
        f"\nOn the agent's machine, keep the token in a file that only you can read, and:\n"
        f"  PENSTOCK_AGENT_SERVER={invitation.server_baseaddress} PENSTOCK_AGENT_TOKEN_FILE=FILE penstock agent",
        err=True,
    )
